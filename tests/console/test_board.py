"""The board of opportunities: stages with their sums, deals that move, ends that are asked for."""

from __future__ import annotations

import re

from tests.console.conftest import Browser, SignIn


def deal(browser: Browser, name: str, **fields: str) -> int:
    client = browser.make("clients", name=f"Client of {name}")
    return browser.make("opportunities", name=name, clientId=str(client), **fields)


def version(browser: Browser, key: int) -> str:
    card = browser.get("opportunities/board").text.partition(f'id="deal-{key}"')[2]
    found = re.search(r'name="version" value="([^"]+)"', card)
    assert found is not None
    return found[1].replace("&#34;", '"')


def column(text: str, stage: str) -> str:
    return text.partition(f'data-stage="{stage}"')[2].partition("</section>")[0]


def test_a_stage_shows_its_deals_and_their_sum(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    deal(browser, "Rollout", amount="1000")
    deal(browser, "Renewal", amount="500", nextStep="Call")
    shown = column(browser.get("opportunities/board").text, "Prospecting")
    assert "1,500.00" in re.sub(r"<[^>]+>", "", shown.partition("<ul")[0])
    assert "Client of Rollout" in shown and "no next step" in shown and "Call" in shown
    assert "No deals." in column(browser.get("opportunities/board").text, "Proposal")


def test_a_deal_moves_and_goes_back(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    key = deal(browser, "Rollout", amount="1000")
    moved = browser.submit(
        "opportunities/board", key=str(key), stage="Proposal", version=version(browser, key)
    )
    assert moved.status_code == 303 and moved.location.endswith(
        f"?moved={key}&from=Prospecting#deal-{key}"
    )
    shown = browser.client.get(moved.location).text
    assert "Rollout: Proposal." in shown and "Undo: Rollout back to Prospecting" in shown
    assert "Rollout" in column(shown, "Proposal")


def test_a_deal_that_somebody_else_moved_stays(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    key = deal(browser, "Rollout", amount="1000")
    seen = version(browser, key)
    browser.submit("opportunities/board", key=str(key), stage="Proposal", version=seen)
    late = browser.submit("opportunities/board", key=str(key), stage="Negotiation", version=seen)
    assert late.status_code == 412 and 'role="alert"' in late.text
    assert "Rollout" in column(late.text, "Proposal")


def test_an_end_is_asked_for_its_reason(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    key = deal(browser, "Rollout", amount="1000")
    asked = browser.submit("opportunities/board", key=str(key), stage="ClosedLost")
    assert asked.location == f"/admin/opportunities/{key}/close/ClosedLost"
    address = f"opportunities/{key}/close/ClosedLost"
    seen = version(browser, key)
    refused = browser.submit(address, lostReason="Other", lostNotes="", version=seen)
    assert refused.status_code == 400 and "is required when lost reason is Other" in refused.text
    lost = browser.submit(address, lostReason="Price", version=seen)
    assert lost.status_code == 303, lost.text
    shown = browser.get("opportunities/board").text
    assert "Rollout: Lost, 1,000.00 EUR." in shown and "Rollout" in column(shown, "ClosedLost")


def test_a_win_has_the_amount_that_was_agreed(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    key = deal(browser, "Rollout", amount="1000")
    address = f"opportunities/{key}/close/ClosedWon"
    assert 'value="1000.00"' in browser.get(address).text
    seen = version(browser, key)
    unread = browser.submit(address, amount="much", version=seen)
    assert unread.status_code == 400 and 'value="much"' in unread.text
    won = browser.submit(address, amount="900", version=seen)
    assert won.status_code == 303, won.text
    assert "Rollout: Won, 900.00 EUR." in browser.get("opportunities/board").text


def test_more_deals_than_cards_lead_to_the_list(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    client = str(browser.make("clients", name="Acme"))
    for number in range(27):
        browser.make("opportunities", name=f"Deal {number}", clientId=client)
    shown = column(browser.get("opportunities/board").text, "Prospecting")
    assert shown.count('class="card deal"') == 25
    assert "opportunities/?state=Prospecting" in shown and "All 27 in the list" in shown


def test_what_there_is_not_is_not_moved(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    assert browser.submit("opportunities/board", key="x", stage="Proposal").status_code == 404
    assert browser.submit("opportunities/board", key="1", stage="Sold").status_code == 404
    assert browser.submit("opportunities/board", key="99", stage="Proposal").status_code == 404
    assert browser.get("opportunities/1/close/Proposal").status_code == 404
    assert browser.get("opportunities/board?moved=99&from=Proposal").status_code == 200


def test_a_viewer_sees_and_moves_nothing(sign_in: SignIn) -> None:
    key = deal(sign_in("Admin"), "Rollout", amount="1000")
    viewer = sign_in("Viewer")
    shown = viewer.get("opportunities/board")
    assert shown.status_code == 200 and '<select name="stage"' not in shown.text
    assert viewer.submit("opportunities/board", key=str(key), stage="Proposal").status_code == 403
    assert viewer.get(f"opportunities/{key}/close/ClosedWon").status_code == 403
