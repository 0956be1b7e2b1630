"""Projects, the tasks in them, other tasks, and documents."""

from __future__ import annotations

PROJECTS = (
    "Roll-out of time terminals",
    "Introduction of Nordlicht Business",
    "Data migration",
    "Label printing at goods receipt",
    "Document archive",
    "Connection to the till system",
    "Second site",
    "Electronic invoices",
)
PROJECT_TASKS = (
    ("Kick-off meeting", 3),
    ("Write the specification", 12),
    ("Prepare the network", 6),
    ("Order the devices", 1),
    ("Set up users and roles", 4),
    ("Import master data", 16),
    ("Install on site", 14),
    ("Test with the key users", 8),
    ("Train the key users", 8),
    ("Write the handover report", 3),
    ("Go live", 6),
    ("Review after four weeks", 2),
)  # (title, hours)
TASKS = (
    "Call about the offer",
    "Send the contract for signature",
    "Prepare the demo",
    "Check the overdue invoices",
    "Answer the questions on data protection",
    "Update the address",
    "Book the training room",
    "Plan the visit",
    "Write the reference story",
    "Review the article on rate limits",
    "Order demo devices",
    "Call back the warehouse manager",
)
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
# (name, category, media type, extension, days it is valid or 0)
DOCUMENTS = (
    ("Framework contract {client}", "Contract", "application/pdf", "pdf", 730),
    ("Order confirmation {client}", "Contract", "application/pdf", "pdf", 0),
    ("Offer {client}", "Quote", "application/pdf", "pdf", 60),
    ("Acceptance report {client}", "Report", "application/pdf", "pdf", 0),
    ("Price list {client}", "Other", XLSX, "xlsx", 0),
    ("Device list {client}", "Other", "text/csv", "csv", 0),
    ("Letter to {client}", "Correspondence", "application/pdf", "pdf", 0),
    ("SEPA mandate {client}", "Correspondence", "application/pdf", "pdf", 1095),
)
TAGS = ("key account", "newsletter", "reference", "price list 2", "north", "south", "pilot")
