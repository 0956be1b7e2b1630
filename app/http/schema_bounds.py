"""marshmallow's validators in the words of this service; schemas import them as ``validate``."""

from __future__ import annotations

from marshmallow import validate

from app.http.record_keys import LARGEST_KEY


class OneOf(validate.OneOf):
    default_message = "must be one of {choices}"


class Range(validate.Range):
    message_min = "must be {{min}} or more"
    message_max = "must be {{max}} or less"
    message_all = "must be between {{min}} and {{max}}"


class Length(validate.Length):
    message_min = "must have a length of {min} or more"
    message_max = "must have a length of at most {max}"
    message_all = "must have a length between {min} and {max}"
    message_equal = "must have a length of {equal}"


# Of the key of a record.
RECORD_KEY = Range(1, LARGEST_KEY)


class Regexp(validate.Regexp):
    default_message = "must have another form"
