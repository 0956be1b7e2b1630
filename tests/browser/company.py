"""A small company whose records try the layout: long words, right-to-left names, every state."""

from __future__ import annotations

import io
from decimal import Decimal
from typing import Any

from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from app.webhooks import endpoints
from tests.factories import line, make_invoice

LONG = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft " * 2
ARABIC = "شركة النور للتجارة"


class Company:
    """What was made, and the pages that show it."""

    def __init__(self, app: Flask, password: str) -> None:
        self.browser = app.test_client()
        self._token = ""
        self._sign_in(self.browser, password)
        self.client = self._make("clients", name=ARABIC, email="office@noor.example", notes=LONG)
        self._make("clients", name=LONG[:150], tags="one, two, three")
        self.lead = self._make("leads", company=LONG[:100], lastName=ARABIC, source="Web")
        self._make("opportunities", name="Deal", clientId=str(self.client), amount="1234567.89")
        self.ticket = self._make("tickets", subject=LONG[:200], requesterEmail="a@example.com")
        self._post(f"tickets/{self.ticket}", step="comment", body=ARABIC, isInternal="on")
        self.article = self._make(
            "kbarticles", title="Resetting a password", visibility="Internal",
            body="# Steps\n\n1. **Open** the page\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n`code`",
        )  # fmt: skip
        for state in ("InReview", "Published"):
            self._post(f"kbarticles/{self.article}", step=f"status:{state}")
        with app.app_context(), transaction(), acting_as(system_caller("test")):
            self.invoice = make_invoice(
                client_id=self.client, line_items=[line("100", tax_rate=Decimal(0))]
            )
            self.webhook, _ = endpoints.register_endpoint(
                url="https://example.com/" + "path/" * 40, patterns=["*"], description=ARABIC
            )
            self.delivery = endpoints.send_test(self.webhook)
        self._post(f"invoices/{self.invoice}/send", to="a@example.com", attachPdf="on")
        self.document = self._key(
            self._post("documents/upload", name=LONG[:120], file=(io.BytesIO(b"text"), "a.txt"))
        )
        self._post(f"documents/{self.document}/shares", days="3", note=ARABIC)
        self._post("tickets/bulk", action="tag", key=str(self.ticket), value="vip", confirm="1")
        self.report = self._key(self._post("questions", q="Clients by status", name="States"))
        sent = self._post("assistant", message="Create a task to call Eva tomorrow")
        self.conversation = sent.headers["Location"].rpartition("/")[2]
        queued = self._post("reports/1/export", format="csv", background="1")
        self.export = queued.headers["Location"].rpartition("/")[2]

    def pages(self) -> list[str]:
        """Every page of the console, below ``/admin/``."""
        client, invoice, lead = self.client, self.invoice, self.lead
        document, webhook = f"documents/{self.document}", f"webhooks/{self.webhook}"
        return [
            "", "questions", "questions?q=Clients+by+status", "questions?q=nothing+known",
            "questions?q=active+ones&before=How+many+clients", "reports", "reports/1",
            "reports/2", f"reports/{self.report}", f"exports/{self.export}", "assistant",
            f"assistant/{self.conversation}", f"assistant?module=Clients&entityId={client}",
            "knowledge", "knowledge/missing", f"clients/{client}/merge",
            f"tickets/{self.ticket}/merge", f"invoices/{invoice}/einvoice",
            "knowledge?q=password", f"knowledge/{self.article}", "search?q=noor",
            "search?q=nothing", "clients/", f"clients/{client}", f"clients/{client}/edit",
            f"clients/{client}/delete", f"clients/{client}/timeline",
            f"clients/{client}/all/Invoices",
            "account", "keys", f"clients/{client}/cells/email", "products/", "products/new",
            "leads/", f"leads/{lead}", f"leads/{lead}/convert", "leads/new",
            "opportunities/", "opportunities/board",
            "tickets/", f"tickets/{self.ticket}", f"tickets/{self.ticket}/suggestions",
            "invoices/", "invoices/new", f"invoices/{invoice}", f"invoices/{invoice}/send",
            f"invoices/{invoice}/mails", "documents/", document, f"{document}/shares",
            f"{document}/shares/1", "documents/upload", "documents/trash", "imports",
            "projects/", "tasks/", "tickets/?add=status&where=assigneeId:me:",
            "tickets/?add=clientId", "invoices/?arrange=1", "bulk/1", "tasks/new",
            "settings/seller", "settings/defaults",
            "settings/exchangeRates", "settings/serviceLevel", "settings/logo",
            "settings/templates", "settings/answers", "settings/console", "queue", "users",
            "users/1", "sessions", "roles", "roles/2", "roles/new", "api-keys", "webhooks", webhook,
            f"{webhook}/deliveries/{self.delivery}", "mail", "mail/1", "jobs", "audit",
        ]  # fmt: skip

    def _sign_in(self, client: FlaskClient, password: str) -> None:
        form = {"username": "admin", "password": password}
        assert client.post("/admin/sign-in", data=form).status_code == 303
        text = client.get("/admin/").text
        self._token = text.split('name="csrf" value="')[1].split('"')[0]

    def _post(self, path: str, **fields: Any) -> TestResponse:
        answer = self.browser.post(f"/admin/{path}", data={"csrf": self._token, **fields})
        assert answer.status_code in (200, 303), (path, answer.text)
        return answer

    def _make(self, path: str, **fields: str) -> int:
        return self._key(self._post(f"{path}/new", **fields))

    def _key(self, answer: TestResponse) -> int:
        return int(answer.headers["Location"].rpartition("/")[2])
