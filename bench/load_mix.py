"""What people do all day: seventy reads, twenty writes, ten operations of a hundred."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from bench.callers import Answer, Caller

BOUNDARY = "frontier"


@dataclass
class Person:
    """A user at work, with what that person made."""

    caller: Caller
    chance: random.Random
    clients: list[int] = field(default_factory=list)
    tickets: list[int] = field(default_factory=list)
    leads: list[int] = field(default_factory=list)
    invoices: list[int] = field(default_factory=list)
    documents: list[int] = field(default_factory=list)

    def read(self, kind: str, path: str) -> Answer:
        """A GET."""
        return self.caller.send(kind, "GET", path)

    def post(self, kind: str, path: str, body: object) -> Answer:
        """A POST."""
        return self.caller.send(kind, "POST", path, body)

    def make(self, kind: str, made: list[int], path: str, body: object) -> int | None:
        """A POST that makes a record; its key goes into ``made``."""
        answer = self.post(kind, path, body)
        if answer.status != 201:
            return None
        key = int(answer.body["id"])
        made.append(key)
        return key

    def client(self) -> int | None:
        """A client of this person's."""
        if not self.clients or self.chance.random() < 0.2:
            name = f"Load {self.chance.randrange(10**9)}"
            body = {"name": name, "email": f"{name.replace(' ', '.').lower()}@example.com"}
            return self.make("create client", self.clients, "/odata/Clients", body)
        return self.chance.choice(self.clients)


Deed = Callable[[Person], object]


def list_clients(one: Person) -> None:
    """A page of clients."""
    one.read("list clients", "/odata/Clients?$filter=revenue gt 10000&$top=25&$count=true"
             .replace(" ", "%20"))  # fmt: skip


def open_client(one: Person) -> None:
    """A client with what belongs to it."""
    if (key := one.client()) is not None:
        one.read("open client", f"/odata/Clients({key})?$expand=Contacts,Invoices")


def list_invoices(one: Person) -> None:
    """What is to be paid."""
    one.read("list invoices", "/odata/Invoices?$filter=isOverdue%20eq%20true&$top=25"
             "&$expand=Client($select=name)&$orderby=dueDate")  # fmt: skip


def list_tickets(one: Person) -> None:
    """What is open, the urgent first."""
    one.read("list tickets", "/odata/Tickets?$filter=status%20ne%20'Closed'&$top=50"
             "&$orderby=priority%20desc&$count=true")  # fmt: skip


def search_clients(one: Person) -> None:
    """Part of a name."""
    part = one.chance.choice(("mül", "ind", "load", "gmbh", "acm"))
    one.read("search", f"/api/crm/search?q={part.replace('ü', '%C3%BC')}")


def look_at_pipeline(one: Person) -> None:
    """The sums of the stages."""
    one.read("pipeline", "/api/crm/pipeline/summary")


def search_articles(one: Person) -> None:
    """A question to the knowledge base."""
    word = one.chance.choice(("password", "invoice", "refund", "delivery", "printer"))
    one.read("search articles", f"/api/kb/search?q={word}")


def write_client(one: Person) -> None:
    """A new client, or a changed one."""
    if (key := one.client()) is not None:
        body = {"notes": f"called {one.chance.randrange(1000)}"}
        one.caller.send("change client", "PATCH", f"/odata/Clients({key})", body)


def write_ticket(one: Person) -> None:
    """A new ticket with a comment, or a step of one."""
    if not one.tickets or one.chance.random() < 0.5:
        body = {"subject": "Printer is on fire", "priority": "High"}
        one.make("create ticket", one.tickets, "/odata/Tickets", body)
        return
    key = one.chance.choice(one.tickets)
    one.post("comment", f"/api/tickets/{key}/comments", {"body": "We look into it."})


def write_lead(one: Person) -> None:
    """A new lead."""
    number = one.chance.randrange(10**9)
    body = {"lastName": f"Lead {number}", "email": f"lead{number}@example.org"}
    one.make("create lead", one.leads, "/odata/Leads", body)


def convert(one: Person) -> None:
    """A lead becomes a client."""
    if not one.leads:
        write_lead(one)
    if one.leads:
        one.post("convert", f"/api/crm/leads/{one.leads.pop()}/convert", {})


def send(one: Person) -> None:
    """An invoice is written and sent."""
    key = one.client()
    if key is None:
        return
    line = {"description": "Work", "quantity": 3, "unitPrice": 120, "taxRate": 19}
    body = {"clientId": key, "LineItems": [line]}
    invoice = one.make("create invoice", one.invoices, "/odata/Invoices", body)
    if invoice is not None:
        address = f"billing{key}@example.com"
        one.post("send", f"/api/invoices/{invoice}/send", {"to": [address]})


def pay(one: Person) -> None:
    """A payment arrives; its invoice is printed."""
    if not one.invoices:
        send(one)
    if one.invoices:
        key = one.invoices.pop()
        body = {"amount": 100, "date": TODAY, "method": "transfer"}
        one.post("pay", f"/api/invoices/{key}/payments", body)
        one.read("pdf", f"/api/invoices/{key}/pdf")


def upload(one: Person) -> None:
    """A document is filed."""
    content = one.chance.randbytes(20_000).hex().encode()
    form = (
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="note.txt"\r\n'
        "Content-Type: text/plain\r\n\r\n"
    ).encode() + content + f"\r\n--{BOUNDARY}--\r\n".encode()  # fmt: skip
    kind = {"Content_Type": f"multipart/form-data; boundary={BOUNDARY}"}
    made = one.caller.send("upload", "POST", "/api/documents/upload", form, **kind)
    if made.status == 201:
        one.documents.append(int(made.body["id"]))


def share(one: Person) -> None:
    """A document is shared, and downloaded."""
    if not one.documents:
        upload(one)
    if one.documents:
        key = one.chance.choice(one.documents)
        one.post("share", f"/api/documents/{key}/share", {"expiresInDays": 1})
        one.read("download", f"/api/documents/{key}/download")


def ask(one: Person) -> None:
    """A question in plain words."""
    question = one.chance.choice(
        ("Open tickets by priority", "total revenue", "invoices by status", "clients by industry")
    )
    one.post("ask", "/api/bi/nlq", {"question": question})


TODAY = ""
READS: tuple[Deed, ...] = (
    list_clients, open_client, list_invoices, list_tickets, search_clients, look_at_pipeline,
    search_articles,
)  # fmt: skip
WRITES: tuple[Deed, ...] = (write_client, write_client, write_ticket, write_ticket, write_lead)
OPERATIONS: tuple[Deed, ...] = (convert, send, pay, upload, share, ask)
MIX = ((70, READS), (20, WRITES), (10, OPERATIONS))


def choose(chance: random.Random) -> Deed:
    """What is done next."""
    kinds = chance.choices([deeds for _, deeds in MIX], [weight for weight, _ in MIX])[0]
    return chance.choice(kinds)
