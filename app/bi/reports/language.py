"""A report in the language of who exports it: its words, numbers and days."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from babel.dates import format_date, format_datetime

from app.bi.reports.definition import Column, Report
from app.container.words import names_of_words, word_text
from app.localisation.catalogue import COLUMN, SOURCE, catalogue_of, text_as, text_in
from app.localisation.numbers import ENGLISH, Signs, signs_of
from app.settings import organisation
from app.settings.days import zone


@dataclass(frozen=True)
class ReportLanguage:
    """A language of exports; in English they have the words and values of the API.

    ``signs`` are those of its numbers.
    """

    code: str = SOURCE
    signs: Signs = ENGLISH

    @property
    def is_of_api(self) -> bool:
        """Whether values stay as the API has them."""
        return self.code == SOURCE

    def translated(self, text: str, **values: object) -> str:
        """A text of the catalogue, with ``values`` in the places of their names."""
        return text_in(self.code, text, **values)

    def translated_count(self, singular: str, many: str, count: int) -> str:
        """The text for so many of something, which stand as ``%(num)s`` in it."""
        text = catalogue_of(self.code).ngettext(singular, many, count)
        return text % {"num": self.number(count)}

    def as_named(self, context: str, text: str) -> str:
        """A text that may have another meaning in a context."""
        return text_as(self.code, context, text)

    def report(self, report: Report) -> Report:
        """A report with its words in the language; what people named themselves stays."""
        if self.is_of_api:
            return report
        name, description = report.name, report.description
        if report.is_built_in:
            name, description = self.translated(name), description and self.translated(description)
        columns = tuple(
            replace(column, label=self.as_named(COLUMN, column.label)) for column in report.columns
        )
        chart = report.chart and replace(
            report.chart,
            x_label=self.translated(report.chart.x_label),
            y_label=self.translated(report.chart.y_label),
        )
        return replace(report, name=name, description=description, columns=columns, chart=chart)

    def parameters(self, report: Report, values: Mapping[str, Any]) -> dict[str, Any]:
        """Parameters by what they mean."""
        if self.is_of_api:
            return dict(values)
        declared = {parameter.name: parameter for parameter in report.parameters}
        return {
            self.translated(declared[name].description.strip(".")): (
                self.day(str(value)) if declared[name].wire_type == "date" else value
            )
            for name, value in values.items()
        }

    def value(self, column: Column, value: Any) -> Any:
        """What is written of a value: words of the model, yes and no."""
        if self.is_of_api:
            return value
        if isinstance(value, bool):
            return self.translated("Yes") if value else self.translated("No")
        is_word = column.name.rpartition("/")[2] in names_of_words()
        return word_text(value, self.code) if is_word and isinstance(value, str) else value

    def row(self, report: Report, row: Mapping[str, Any]) -> Mapping[str, Any]:
        """A row with the values of its columns as they are written."""
        if self.is_of_api:
            return row
        columns = {column.name: column for column in report.columns}
        return {
            name: self.value(columns[name], value) if name in columns else value
            for name, value in row.items()
        }

    def text(self, column: Column, value: Any) -> Any:
        """As ``value``, days and instants as texts."""
        if not self.is_of_api and isinstance(value, str):
            if column.type == "date":
                return self.day(value)
            if column.type == "instant":
                moment = datetime.fromisoformat(value)
                return format_datetime(moment, "medium", zone(), self.code)
        return self.value(column, value)

    def number(self, number: Decimal | int, form: str = ",") -> str:
        """A number in the signs of the language; ``form`` is as of ``format``."""
        signs = {ord(","): self.signs.group, ord("."): self.signs.decimal}
        return format(number, form).translate(signs)

    def moment(self, moment: datetime) -> str:
        """An instant of UTC, which it says."""
        if self.is_of_api:
            return moment.strftime("%Y-%m-%d %H:%M UTC")
        return f"{format_datetime(moment, 'short', UTC, self.code)} UTC"

    def day(self, text: str) -> str:
        """``2026-06-17`` as people of the language write it; a time behind it is left out."""
        return format_date(date.fromisoformat(text[:10]), "medium", self.code)


def report_language(language: str) -> ReportLanguage:
    """How the organisation's people speak a language."""
    if language == SOURCE:
        return ReportLanguage()
    return ReportLanguage(language, signs_of(language, organisation().seller.country) or ENGLISH)
