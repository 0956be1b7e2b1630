"""What an operation is: one declaration, from which everything that offers it is made.

An area declares its operations in ``operations.py``; ``app/container/declared.py`` lists all.
The REST view, the OData action with its types, OpenAPI, the console's button and form and the
assistant's tool come from the declaration (docs/adr/0049).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from marshmallow import Schema

from app.http.areas import load


@dataclass(frozen=True, kw_only=True)
class Button:
    """How the page of a record offers an operation.

    Its form has the arguments that ``asks`` names, as on the wire; it lies on ``page``, below that
    of the record, where there is more to see than the form. ``done`` is said afterwards, with the
    amount that the member ``tells`` of the answer has. ``instead_of`` is the step of the
    state machine for which it stands. ``fills`` are arguments that begin with an amount of the
    record, by its property; where nothing of that is left, the page does not offer the operation.
    ``about`` is the amount of the record that the step is about, which its button names. With
    ``of_many`` it is offered for the chosen records of a list, too: that is said of it before, and
    each is done by itself, with nothing but the usual arguments.
    """

    label: str
    done: str = ""
    asks: tuple[str, ...] = ()
    is_dangerous: bool = False
    page: str = ""
    tells: str | None = None
    instead_of: str | None = None
    fills: Mapping[str, str] = field(default_factory=dict)
    about: str = ""
    of_many: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class Operation:
    """An operation on a record of the type ``bound_to``, or on none.

    ``run`` is the function of the service. It gets the key of the record, if there is one, and what
    ``arguments`` loads: by name where that is a mapping, else as one value. What it returns, or the
    key of the record where that is nothing, is the result.

    ``answer`` makes the body of REST from the result, in the form of ``answers``, if there is one;
    ``answer_of_trial`` does where it was only tried, if that is another. OData returns the same, or
    an entity of the type ``returns``, whose key is the result or what ``key_of`` finds in it.
    ``result_path`` is the navigation of the record in which an entity without a set lies.
    ``location`` is the address of what it creates, with members of the answer in braces.

    ``path`` is below the area in REST; an operation without one has a view of its own there.
    ``action`` is its name in ``allowedActions``. ``asked_by`` are phrases, beginning with a verb,
    in which people ask the assistant for it besides its name, in any language. What is not
    ``proposed`` the assistant never proposes, and OData does not do it to ``$each`` of a set: its
    answer has a secret, or it is done to many records.
    """

    name: str
    run: Callable[..., Any]
    permissions: tuple[str, ...]
    description: str  # the first paragraph is the summary
    answers: type[Schema] | None = None
    answer: Callable[[Any], Any] = dict
    arguments: type[Schema] | None = None
    answer_of_trial: Callable[[Any], Any] | None = None
    bound_to: str | None = None
    action: str | None = None
    path: str | None = None
    changes: bool = True
    returns: str | None = None
    location: str | None = None
    result_path: str | None = None
    key_of: Callable[[Any], int] = int
    binds_hidden: bool = False
    button: Button | None = None
    asked_by: tuple[str, ...] = ()
    proposed: bool = True

    @property
    def summary(self) -> str:
        """The first paragraph of the description, in one line and without marks."""
        return " ".join(self.description.partition("\n\n")[0].replace("`", "").split())

    def call(self, key: int | None, loaded: Any) -> Any:
        """What the service returns; the key of the record where that is nothing.

        Args:
            loaded: what the schema of the arguments made of them.
        """
        bound = () if key is None else (key,)
        if isinstance(loaded, Mapping):
            result = self.run(*bound, **loaded)
        else:
            result = self.run(*bound, loaded)
        return key if result is None else result

    def load(self, arguments: Mapping[str, Any]) -> Any:
        """What ``call`` takes, by the schema that reads a body of REST.

        Raises: ValidationError.
        """
        if self.arguments is None:
            return {}
        return load(self.arguments(), arguments)
