"""Questions in plain words: the answer, its chart, the query behind it, and where to go on.

A question changes nothing, so it stands in the address: it can be kept and sent on. Those before
it in the conversation stand there too, the oldest first.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from flask import Response, request

from app.bi.answering import answer_question, state_after
from app.bi.answers import EXAMPLES
from app.bi.reports.definition import TYPES
from app.bi.reports.saving import save_report
from app.console import session
from app.console.area import console, page, refused_on, see_other
from app.console.language import page_language, translated
from app.console.svg_charts import picture_of
from app.console.typed import typed_name
from app.console.wording import saved
from app.errors import ApiError, ValidationError
from app.http.security import requires

REMEMBERED = 10
ADDRESS = f"{session.ROOT}/questions"


@console.get("/questions")
@requires("bi:query")
def show_question(problem: ApiError | None = None) -> Response:
    """The box to ask in and, when something was asked, the answer."""
    question = request.values.get("q", "").strip()
    before = request.values.getlist("before")[-REMEMBERED:]
    answer: dict[str, Any] | None = None
    if question:
        try:
            answer = _answer(question, before)
        except ValidationError as error:
            problem = error
    return page(
        "questions.html",
        question=question,
        before=before,
        answer=answer,
        picture=picture_of(answer["chart"]) if answer else None,
        following=[*before, question][-REMEMBERED:] if answer is not None else before,
        others=[(text, _link(text, before)) for text in answer["alternatives"]] if answer else [],
        examples=[(text, _link(text, [])) for text in map(translated, EXAMPLES)],
        name=request.form.get("name", question)[:200],
        problem=problem,
    )


@console.post("/questions")
@requires("bi:query")
@refused_on(show_question)
def keep_question() -> Response:
    """Save the answer that is shown as a report: from its question, or from its query."""
    name = typed_name(200, translated("Give the report a name of up to 200 characters."))
    report_id = save_report({"name": name, "shared": "shared" in request.form, **_content()})
    message = saved(translated("Report"))
    return see_other(f"{session.ROOT}/reports/{report_id}", message)


def _content() -> dict[str, Any]:
    """What a report is made of: the question where it stands by itself, else the query.

    Raises: ValidationError, the question has no answer.
    """
    question, before = request.form.get("q", ""), request.form.getlist("before")
    if not before:
        return {"question": question}
    answer = _answer(question, before, limit=1)
    if answer["status"] != "answered":
        raise ValidationError([("q", translated("Only what is answered can be saved."))])
    columns = [
        {**column, "type": column["type"] if column["type"] in TYPES else "text"}
        for column in answer["columns"]
    ]
    return {"odata": answer["query"]["odata"], "columns": columns}


def _answer(question: str, before: list[str], **most: int) -> dict[str, Any]:
    """The answer after those before it; in the language of the page, unless words say another.

    Raises: ValidationError, it cannot be read.
    """
    language = page_language()
    return answer_question(question, state_after(before, language), page_language=language, **most)


def _link(question: str, before: list[str]) -> str:
    return f"{ADDRESS}?{urlencode([('q', question), *(('before', text) for text in before)])}"
