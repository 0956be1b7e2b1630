"""Candidates are counted, ranked and listed alike, under the rights of the caller."""

from __future__ import annotations

from dataclasses import replace

from app.crm.search.candidates import Search
from app.crm.search.kinds import KINDS
from app.crm.search.query import Either, Every, Holds
from app.db import records
from app.http.security import Caller
from tests import factories

ACME, GMBH = Holds("acme"), Holds("gmbh")


def test_every_form_finds_the_same_and_the_first_tier_stands_before(admin: Caller) -> None:
    late = factories.make_client(name="Machines of Acme")
    first = factories.make_client(name="Acme GmbH")
    factories.make_client(name="Other GmbH")
    search = Search(KINDS["client"], admin, records.connection())
    pattern = Every((ACME, Either((GMBH, Holds("machines")))))
    assert search.count(pattern) == 2
    assert {row.id for row in search.some(pattern, limit=5)} == {late, first}
    ranked, total = search.ranked((Every((ACME, GMBH)), pattern), limit=5, offset=0)
    assert [row.id for row in ranked] == [first, late]
    assert total in (None, 2)


def test_a_record_that_the_caller_may_not_read_is_no_candidate(admin: Caller) -> None:
    factories.make_client(name="Acme GmbH")
    stranger = replace(admin, rights={"clients:read": "own"}, user_id=admin.user_id + 1)
    assert Search(KINDS["client"], stranger, records.connection()).count(ACME) == 0
