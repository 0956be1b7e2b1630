"""What has to be there before the example of a REST operation can be sent.

Every set has a record with the key 1, and so have the second client and ticket the key 2. What is
here makes more where an operation uses a record up, and answers with the values of the path.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from io import BytesIO
from typing import Any

from app.bi.exports.jobs import run_exports
from app.documents.analysis import look_into_files
from app.importing.submission import MOST_AT_ONCE
from app.mail.delivery import deliver_due
from tests.contract.conftest import PASSWORD, Api
from tests.mail.reports import report

Values = Mapping[str, Any]
V1 = "/api/v1"
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b55"
    "0000000a49444154789c6360000000020001e221bc330000000049454e44ae426082"
)


def made(answer: Any) -> Any:
    """The body of a success."""
    assert answer.status_code < 300, answer.text
    return answer.json


def work(api: Api, run: Callable[[], int]) -> None:
    """Let a loop of the worker do what there is."""
    with api.client.application.app_context():
        while run():
            pass


def issued(api: Api) -> dict[str, int]:
    """An invoice that was issued, unpaid."""
    line = {"description": "Training", "unitPrice": 100, "taxRate": 19}
    body = {"clientId": 1, "LineItems": [line]}
    key = made(api.post("/odata/Invoices", body))["id"]
    made(api.patch(f"/odata/Invoices({key})", {"status": "Sent"}))
    return {"invoice_id": key}


def came_back(api: Api) -> dict[str, int]:
    """An invoice whose mail another server did not take."""
    values = issued(api)
    path = f"{V1}/invoices/{values['invoice_id']}"
    made(api.post(f"{path}/send", {"to": ["billing@acme.example"]}))
    work(api, deliver_due)
    (delivery,) = made(api.get(f"{path}/deliveries"))["items"]
    bounce = report(delivery["messageId"], "billing@acme.example")
    headers = {**api.headers, "Content-Type": "message/rfc822"}
    made(api.client.post(f"{V1}/mail/bounces", data=bounce, headers=headers))
    return values | {"delivery_id": delivery["id"]}


def issued_by_known_seller(api: Api) -> dict[str, int]:
    """What an e-invoice says of the seller is there."""
    seller = {
        "name": "Acme", "taxId": "DE136695976", "street": "Hauptstr. 1", "city": "Berlin",
        "postalCode": "10115", "country": "DE",
    }  # fmt: skip
    made(api.patch(f"{V1}/admin/settings/seller", seller))
    return issued(api)


def paid(api: Api) -> dict[str, int]:
    key = issued(api)["invoice_id"]
    payment = {"amount": 10, "date": "2026-01-31", "method": "transfer"}
    return {"payment_id": made(api.post(f"{V1}/invoices/{key}/payments", payment))["id"]}


def open_lead(api: Api) -> dict[str, int]:
    return {"lead_id": made(api.post("/odata/Leads", {"lastName": "Doe"}))["id"]}


def file(api: Api) -> dict[str, int]:
    """A document with bytes."""
    form = {"file": (BytesIO(b"A turbine.\n"), "turbine.txt")}
    answer = api.client.post(f"{V1}/documents/upload", data=form, headers=api.headers)
    return {"document_id": made(answer)["id"]}


def picture(api: Api) -> dict[str, int]:
    """A document that has a preview."""
    form = {"file": (BytesIO(PNG), "logo.png")}
    answer = api.client.post(f"{V1}/documents/upload", data=form, headers=api.headers)
    work(api, look_into_files)
    return {"document_id": made(answer)["id"]}


def deleted_file(api: Api) -> dict[str, int]:
    values = file(api)
    assert api.delete(f"/odata/Documents({values['document_id']})").status_code == 204
    return values


def shared(api: Api, **wishes: Any) -> dict[str, Any]:
    values = file(api)
    made_share = made(api.post(f"{V1}/documents/{values['document_id']}/share", wishes))
    return values | {"share_id": made_share["id"], "token": made_share["token"]}


def invoice_page(api: Api) -> dict[str, str]:
    made(api.patch(f"{V1}/admin/settings/invoicing", {"publicPage": True}))
    key = issued(api)["invoice_id"]
    link = made(api.get(f"{V1}/invoices/{key}/link"))["url"]
    return {"invoice_id": key, "token": link.rpartition("/")[2]}


def published(api: Api) -> dict[str, int]:
    body = {"title": "Resetting", "body": "Choose *Forgot password*.", "status": "Published"}
    return {"article_id": made(api.post("/odata/KbArticles", body))["id"]}


def webhook(api: Api) -> dict[str, int]:
    body = {"url": "https://acme.example/hook", "events": ["invoice.paid"]}
    return {"webhook_id": made(api.post(f"{V1}/webhooks", body))["id"]}


def delivery(api: Api) -> dict[str, int]:
    values = webhook(api)
    test = made(api.post(f"{V1}/webhooks/{values['webhook_id']}/test"))
    return values | {"delivery_id": test["id"]}


def conversation(api: Api) -> dict[str, Any]:
    answer = made(api.post(f"{V1}/ai/chat", {"message": "remind me to call Eva"}))
    return {
        "session_id": answer["sessionId"],
        "sessionId": answer["sessionId"],
        "message_id": answer["messageId"],
        "action_id": answer["pendingActions"][0]["id"],
    }


def saved_report(api: Api) -> dict[str, str]:
    body = {"name": "Urgencies", "question": "Open tickets by priority"}
    return {"report_id": made(api.post(f"{V1}/bi/reports", body))["id"]}


def scheduled_report(api: Api) -> dict[str, str]:
    values = saved_report(api)
    body = {"every": "daily", "format": "csv", "to": ["ada@acme.example"]}
    made(api.put(f"{V1}/bi/reports/{values['report_id']}/schedule", body))
    return values


def export(api: Api) -> dict[str, str]:
    key = saved_report(api)["report_id"]
    body = {"format": "csv", "background": True}
    made_export = made(api.post(f"{V1}/bi/reports/{key}/export", body))
    work(api, run_exports)
    return {"key": made_export["id"]}


def imported(api: Api) -> dict[str, int]:
    text = "name\n" + "Imported\n" * (MOST_AT_ONCE + 1)
    form = {"file": (BytesIO(text.encode()), "c.csv"), "type": "client"}
    answer = api.client.post(f"{V1}/crm/import", data=form, headers=api.headers)
    return {"job_id": made(answer)["id"]}


def logo(api: Api) -> None:
    form = {"file": (BytesIO(PNG), "logo.png")}
    made(api.client.put(f"{V1}/admin/settings/logo", data=form, headers=api.headers))


def role(api: Api) -> dict[str, int]:
    count = made(api.get(f"{V1}/admin/roles"))["total"]
    body = {"name": f"Role {count}", "permissions": {"clients:read": "all"}}
    return {"role_id": made(api.post(f"{V1}/admin/roles", body))["id"]}


def user(api: Api) -> dict[str, int]:
    name = f"user{made(api.get(f'{V1}/admin/users'))['total']}"
    body = {
        "username": name, "email": f"{name}@example.com", "password": PASSWORD, "roles": ["Sales"],
    }  # fmt: skip
    return {"user_id": made(api.post(f"{V1}/admin/users", body))["id"]}


def signed_in_user(api: Api) -> dict[str, Any]:
    values = user(api)
    name = made(api.get(f"{V1}/admin/users/{values['user_id']}"))["username"]
    made(login(api, name))
    path = f"{V1}/admin/users/{values['user_id']}/sessions"
    return values | {"session_id": made(api.get(path))["items"][0]["id"]}


def own_session(api: Api) -> dict[str, str]:
    made(login(api, "admin"))
    sessions = made(api.get(f"{V1}/auth/sessions"))["items"]
    return {"session_id": next(one["id"] for one in sessions if not one["current"])}


def login(api: Api, username: str) -> Any:
    body = {"username": username, "password": PASSWORD}
    return api.client.post(f"{V1}/auth/login", json=body)


def api_key(api: Api) -> dict[str, int]:
    body = {"name": "ERP", "role": "Viewer"}
    return {"key_id": made(api.post(f"{V1}/admin/api-keys", body))["id"]}


# ``METHOD path`` -> what makes it possible.
BEFORE: Mapping[str, Callable[[Api], Values | None]] = {
    "DELETE /auth/sessions/{session_id}": own_session,
    "GET /admin/api-keys/{key_id}": api_key,
    "DELETE /admin/api-keys/{key_id}": api_key,
    "GET /admin/settings/logo": logo,
    "DELETE /admin/settings/logo": logo,
    "PATCH /admin/roles/{role_id}": role,
    "DELETE /admin/roles/{role_id}": role,
    "DELETE /admin/sessions/{session_id}": own_session,
    "PATCH /admin/users/{user_id}": user,
    "POST /admin/users/{user_id}/unlock": user,
    "POST /admin/users/{user_id}/reset-password": user,
    "DELETE /admin/users/{user_id}/sessions/{session_id}": signed_in_user,
    "GET /crm/import/{job_id}": imported,
    "POST /crm/leads/{lead_id}/convert": open_lead,
    "GET /invoices/{invoice_id}/link": invoice_page,
    "DELETE /invoices/{invoice_id}/link": invoice_page,
    "GET /invoices/{invoice_id}/einvoice": issued_by_known_seller,
    "POST /invoices/{invoice_id}/deliveries/{delivery_id}/resend": came_back,
    "POST /invoices/{invoice_id}/payments": issued,
    "POST /invoices/{invoice_id}/void": issued,
    "POST /invoices/{invoice_id}/uncollectible": issued,
    "POST /invoices/{invoice_id}/credit-note": issued,
    "POST /payments/{payment_id}/reverse": paid,
    "GET /documents/{document_id}/download": file,
    "GET /documents/{document_id}/preview": picture,
    "POST /documents/{document_id}/share": file,
    "DELETE /documents/{document_id}/shares/{share_id}": shared,
    "POST /documents/{document_id}/restore": deleted_file,
    "GET /kb/articles/{article_id}/feedback": published,
    "POST /kb/articles/{article_id}/feedback": published,
    "GET /ai/chat/stream": conversation,
    "POST /ai/messages/{message_id}/cancel": conversation,
    "GET /ai/sessions/{session_id}": conversation,
    "DELETE /ai/sessions/{session_id}": conversation,
    "POST /ai/actions/{action_id}/confirm": conversation,
    "POST /ai/actions/{action_id}/reject": conversation,
    "GET /webhooks/{webhook_id}": webhook,
    "PATCH /webhooks/{webhook_id}": webhook,
    "DELETE /webhooks/{webhook_id}": webhook,
    "POST /webhooks/{webhook_id}/test": webhook,
    "POST /webhooks/{webhook_id}/rotate-secret": webhook,
    "GET /webhooks/{webhook_id}/deliveries": webhook,
    "GET /webhooks/{webhook_id}/deliveries/{delivery_id}": delivery,
    "POST /webhooks/{webhook_id}/deliveries/{delivery_id}/resend": delivery,
    "POST /webhooks/{webhook_id}/recover": webhook,
    "GET /bi/reports/{report_id}": saved_report,
    "PATCH /bi/reports/{report_id}": saved_report,
    "DELETE /bi/reports/{report_id}": saved_report,
    "GET /bi/reports/{report_id}/data": saved_report,
    "GET /bi/reports/{report_id}/chart.svg": saved_report,
    "GET /bi/reports/{report_id}/chart.png": saved_report,
    "POST /bi/reports/{report_id}/export": saved_report,
    "PUT /bi/reports/{report_id}/schedule": saved_report,
    "DELETE /bi/reports/{report_id}/schedule": scheduled_report,
    "GET /bi/exports/{key}": export,
    "GET /bi/exports/{key}/file": export,
    "GET /s/{token}": shared,
    "POST /s/{token}": lambda api: shared(api, password="given with the link"),
    "GET /s/i/{token}": invoice_page,
}
