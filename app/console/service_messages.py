"""Messages of the service, which speaks English, in the language of a page.

The service fills its messages in before anybody knows who reads them. What the catalogue has is
recognised by its words: ``must be at most 12`` is ``must be at most %(most)s``.
"""

from __future__ import annotations

import re
from functools import cache

from app.console.language import SOURCE, marked, page_language, translated

# Those that people meet in forms and on pages. The first that fits counts: what says more stands
# before what says less.
MESSAGES = (
    marked("A built-in role cannot be changed: make one of your own."),
    marked("A closed ticket cannot be changed; a reply opens a new one."),
    marked("A closed ticket takes no notes."),
    marked("A credit note is not written off: nobody pays it."),
    marked("A payment cannot be changed: reverse it and enter another."),
    marked("A payment cannot be deleted: reverse it."),
    marked("A value that must be unique is taken."),
    marked("Another request is changing the same records; try again."),
    marked("Built-in reports are not changed."),
    marked("It was changed since, and is left as it is."),
    marked("No such record."),
    marked("Only a mail that did not reach everybody is tried again."),
    marked("Only a mail that failed for a recipient is sent again; send the invoice for another."),
    marked("Only an issued invoice can be credited."),
    marked("Only its owner changes a report."),
    marked("Other records need this one."),
    marked("The body is larger than this address takes."),
    marked("The client is blocked: nothing can be issued to it."),
    marked("The currency of a client cannot change once invoices were issued."),
    marked("The database does not answer for a moment; try again."),
    marked("The document has no file yet."),
    marked("The document is issued: what is printed on it cannot change. Credit it instead."),
    marked("The document is quarantined: an administrator has to release it first."),
    marked("The file is neither CSV nor xlsx."),
    marked("The file store does not answer for a moment; try again."),
    marked("The lead was converted before."),
    marked("The logo must be a PNG or JPEG picture."),
    marked("The picture is being made: ask again in a moment."),
    marked("The record was changed by somebody else meanwhile."),
    marked("The service has no space left on its disk; try again later."),
    marked("The webhook is disabled: set its status to active first."),
    marked("There is nothing at this address."),
    marked("These settings were changed by somebody else meanwhile."),
    marked("This account is locked."),
    marked("This cannot be undone."),
    marked("This is an old Excel file: save it as .xlsx or as CSV."),
    marked("This is the last administrator: make another one first."),
    marked("This name is taken."),
    marked("Too many requests."),
    marked("User name or password is wrong."),
    marked("Users or API keys have this role: give them another first."),
    marked("Your role does not have the permission %(permission)s."),
    marked("Your role has %(permission)s for your own records only."),
    marked("More than %(limit)s requests: try again in %(seconds)s seconds."),
    marked("Only %(amount)s are left to pay."),
    marked("The file has more than %(bytes)s bytes."),
    marked("The logo has more than %(bytes)s bytes."),
    marked("The project has %(count)s open tasks: finish or cancel them first."),
    marked("There is a role %(name)s already."),
    marked("There is no exchange rate from %(one)s to %(other)s in the settings."),
    marked("There is no %(record)s."),
    marked("Too many failed logins: try again in %(seconds)s seconds."),
    marked("%(number)s was given to another document meanwhile: look at the letter again."),
    marked("%(count)s fields have problems."),
    marked("could be two numbers: write %(one)s or %(other)s"),
    marked("is missing"),
    marked("is not a property of this record"),
    marked("is not allowed"),
    marked("is not allowed together with the other values"),
    marked("is required"),
    marked("is taken"),
    marked("must be 0 or more"),
    marked("must be a BIC such as BYLADEM1001"),
    marked("must be a country code of ISO 3166-1 such as DE"),
    marked("must be a currency code in capitals, such as USD"),
    marked("must be a currency code of ISO 4217 such as EUR"),
    marked("must be a date such as %(example)s"),
    marked("must be a language such as en or de-AT"),
    marked("must be a number"),
    marked("must be a tax number of 2 to 32 printable characters"),
    marked("must be a telephone number of a length that exists in its country"),
    marked("must be a telephone number such as +49 30 901820"),
    marked("must be a time zone such as Europe/Berlin"),
    marked("must be a valid IBAN such as DE02 1203 0000 0000 2020 51"),
    marked("must be a web address such as https://example.com"),
    marked("must be a whole number from %(least)s to %(most)s"),
    marked("must be an e-mail address such as info@example.com"),
    marked("must be an issued invoice"),
    marked("must be at most %(most)s"),
    marked("must be at most the credit that the client has"),
    marked("must be between %(least)s and %(most)s"),
    marked("must be from %(first)s to %(last)s: %(reason)s"),
    marked("must be in the future"),
    marked("must be less than %(limit)s"),
    marked("must be more than 0"),
    marked("must be one line"),
    marked("must be one of %(choices)s"),
    marked("must be text"),
    marked("must be true or false"),
    marked("must be within %(days)s days"),
    marked("must be %(least)s or more"),
    marked("must be %(most)s or less"),
    marked("must have a name of 1 to %(most)s characters"),
    marked("must have at least %(least)s characters"),
    marked("must have at least one line before the invoice is issued"),
    marked("must have at most %(most)s characters"),
    marked("must have at most %(most)s decimals"),
    marked("must have at most %(most)s entries"),
    marked("must have at most %(most)s labels"),
    marked("must have letters, digits and hyphens only"),
    marked("must have the decimals of its currency, %(most)s at most"),
    marked("must not be after today, %(day)s"),
    marked("must not be before issueDate"),
    marked("must not be before the day of issue"),
    marked("must not be blank"),
    marked("must not be later than tomorrow"),
    marked("must not be null"),
    marked("must not credit more than %(most)s, what the invoice leaves"),
)
_PLACE = re.compile(r"%\\\((\w+)\\\)s")


def said(message: str) -> str:
    """A message in the language of the page; as it is where the catalogue has none for it."""
    if page_language() == SOURCE:
        return message
    if (known := translated(message)) != message:
        return known
    for text, pattern in _patterns().items():
        if found := pattern.fullmatch(message):
            return translated(text, **found.groupdict())
    return message


def is_known(message: str) -> bool:
    """Whether it is a message of the service that says what is wrong with a field."""
    return message in _patterns() or any(
        pattern.fullmatch(message) for pattern in _patterns().values()
    )


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    return {
        text: re.compile(_PLACE.sub(r"(?P<\1>.+?)", re.escape(text)), re.DOTALL)
        for text in MESSAGES
    }
