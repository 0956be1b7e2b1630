"""What else a web process is asked for in an hour, kind by kind: what each may leave in its memory.

bench/load_mix.py has what people do all day; this adds what they do now and then: questions of all
kinds, drawn documents, pages of the console, exports, charts, the pages of the API, mistakes.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from bench import load_mix
from bench.load_mix import Deed, Person

REPORTS = (
    "revenue-by-month", "pipeline-by-stage", "receivables-ageing", "sales-by-client",
    "tax-summary", "tickets-by-status-and-age", "lead-sources", "project-hours-and-budget",
)  # fmt: skip
SETS = ("Clients", "Contacts", "Leads", "Opportunities", "Invoices", "Tickets", "Tasks", "Projects")
PAGES = (
    "", "clients", "leads", "opportunities", "invoices", "tickets", "projects", "documents",
    "clients/1", "invoices/1", "clients/new", "invoices/new", "reports", "reports/1", "audit",
    "jobs", "mail", "users", "settings", "settings/templates", "questions", "webhooks", "api-keys",
)  # fmt: skip
BY_MEANING = ("tickets/1", "tickets/1/suggestions", "knowledge", "search?q=printer", "assistant")
COLUMNS = ("name", "email", "status", "industry", "revenue", "taxId", "phone", "createdAt", "id")
WORDS = ("revenue", "open tickets", "overdue invoices", "clients", "leads", "projects", "tasks")
GROUPS = ("by month", "by status", "by client", "by owner", "by country", "last quarter", "in 2025")


def own_question(one: Person) -> None:
    """A query that nobody has asked before: columns, order and literals by chance."""
    chance = one.chance
    columns = ",".join(chance.sample(COLUMNS, chance.randint(1, 6)))
    order = ",".join(
        f"{name} {chance.choice(('asc', 'desc'))}" for name in chance.sample(COLUMNS, 2)
    )
    condition = f"revenue gt {chance.randrange(10**6)} and contains(name,'{chance.randrange(99)}')"
    options = f"$select={columns}&$orderby={order}&$filter={condition}&$top={chance.randint(1, 99)}"
    one.read("own question", f"/odata/Clients?{options}".replace(" ", "%20"))


def any_set(one: Person) -> None:
    """A page of some set."""
    one.read("any set", f"/odata/{one.chance.choice(SETS)}?$top=20&$count=true")


def batch(one: Person) -> None:
    """Several requests in one, of which one fails."""
    word = one.chance.choice(("gt", "lt", "le"))
    urls = (f"Clients?$filter=revenue {word} 1&$top=3", "Tickets?$top=2", "Clients(999999999)")
    asked = [
        {"id": str(at), "method": "GET", "url": url.replace(" ", "%20")}
        for at, url in enumerate(urls)
    ]
    one.post("batch", "/odata/$batch", {"requests": asked})


def same_again(one: Person) -> None:
    """A lead, sent twice with one key."""
    number = one.chance.randrange(10**9)
    body = {"lastName": f"Twice {number}", "email": f"twice{number}@example.org"}
    for _ in range(2):
        key = {"Idempotency_Key": f"twice-{number}"}
        one.caller.send("same again", "POST", "/odata/Leads", body, **key)


def mistake(one: Person) -> None:
    """Something that is refused."""
    number = one.chance.randrange(10**9)
    one.read("mistake", one.chance.choice((
        f"/odata/Clients({number})", f"/odata/Clients?$filter=colour%20eq%20{number}",
        f"/odata/Nothing{number}", f"/api/invoices/{number}/pdf", f"/api/no/{number}",
        f"/odata/Clients?$filter=(name%20eq%20'{number}'",
    )))  # fmt: skip
    one.post("mistake", "/odata/Clients", {"name": "", f"field{number}": 1})


def stranger(one: Person) -> None:
    """A caller whom nobody knows."""
    token = {"Authorization": f"Bearer {one.chance.randbytes(20).hex()}"}
    one.caller.send("stranger", "GET", "/odata/Clients?$top=1", **token)


def new_key(one: Person) -> None:
    """A program with a key of its own."""
    body = {"name": f"program {one.chance.randrange(10**9)}", "role": "Sales"}
    made = one.post("make key", "/api/admin/api-keys", body)
    if made.status == 201:
        key = {"Authorization": "", "X_API_Key": made.body["key"]}
        one.caller.send("new key", "GET", "/odata/Clients?$top=5", **key)


def question(one: Person) -> None:
    """A question that few have asked."""
    chance = one.chance
    text = f"{chance.choice(WORDS)} {chance.choice(GROUPS)}"
    if chance.random() < 0.3:
        text = f"{text} over {chance.randrange(10**5)}"
    if chance.random() < 0.1:
        text = text.replace("e", "", 1)
    one.post("question", "/api/bi/nlq", {"question": text})


def electronic(one: Person) -> None:
    """An invoice in each of its forms."""
    if not one.invoices:
        load_mix.send(one)
    if one.invoices:
        key = one.chance.choice(one.invoices)
        form = one.chance.choice(("ubl", "cii", "facturx"))
        one.read("e-invoice", f"/api/invoices/{key}/einvoice?format={form}")
        one.read("pdf", f"/api/invoices/{key}/pdf?current=true")


def page(one: Person) -> None:
    """A page of the console."""
    one.read("page", f"/admin/{one.chance.choice(PAGES)}")


def page_by_meaning(one: Person) -> None:
    """A page that finds texts by their meaning."""
    one.read("page", f"/admin/{one.chance.choice(BY_MEANING)}")


def report(one: Person) -> None:
    """The rows of a report."""
    one.read("report", f"/api/bi/reports/{one.chance.choice(REPORTS)}/data")


def chart(one: Person) -> None:
    """The chart of a report, as a picture in one of fifty cases: each costs a second."""
    if one.chance.random() < 0.02:
        name, form = one.chance.choice(REPORTS), one.chance.choice(("png", "svg"))
        one.read("chart", f"/api/bi/reports/{name}/chart.{form}")


def export(one: Person) -> None:
    """A report as a file."""
    form = one.chance.choice(("xlsx", "csv", "json", "pdf"))
    if form == "pdf" and one.chance.random() < 0.9:  # it has a chart inside
        return
    name = one.chance.choice(REPORTS)
    one.post("export", f"/api/bi/reports/{name}/export", {"format": form})


def described(one: Person) -> None:
    """The pages of the API, its descriptions, the guide."""
    one.read("described", one.chance.choice((
        "/docs", "/openapi.json", "/odata/$metadata", "/odata/$metadata?$format=json",
        "/docs/guide", "/docs/guide/odata", "/docs/guide/search.json", "/readyz",
    )))  # fmt: skip


def chat(one: Person) -> None:
    """A message to the assistant, and what helps with a ticket."""
    one.post("chat", "/api/ai/chat", {"message": one.chance.choice((
        "How many tickets are open?", "Who has not paid?", "How do I reset a password?",
    ))})  # fmt: skip


# What needs the embedding model, whose memory is counted apart, comes last.
STAGES: tuple[tuple[str, tuple[Deed, ...]], ...] = (
    ("reads and writes", (
        *(deed for deed in load_mix.READS if deed is not load_mix.search_articles),
        *load_mix.WRITES, load_mix.convert, own_question, any_set, batch, same_again,
    )),
    ("mistakes, callers", (mistake, stranger, new_key)),
    ("questions", (load_mix.ask, question)),
    ("invoices", (load_mix.send, load_mix.pay, electronic)),
    ("files", (load_mix.upload, load_mix.share)),
    ("console", (page,)),
    ("reports, exports", (report, chart, export)),
    ("descriptions", (described,)),
    ("embedding model", (load_mix.search_articles, page_by_meaning, chat)),
)  # fmt: skip
_WEIGHTS = (70, 6, 4, 4, 3, 6, 3, 1, 3)


def one_of(deeds: Sequence[Deed], chance: random.Random) -> Deed:
    """Any of them, each as often as the others."""
    return chance.choice(deeds)


def choose(chance: random.Random) -> Deed:
    """What is done next, of all that there is."""
    _, deeds = chance.choices(STAGES, _WEIGHTS)[0]
    return one_of(deeds, chance)
