"""What is said in sales: opportunities, next steps, reasons, leads."""

from __future__ import annotations

OPPORTUNITIES = (
    ("NewBusiness", "Time terminals for {city}", 6_000, 48_000),
    ("NewBusiness", "Label printing in the warehouse", 3_000, 22_000),
    ("NewBusiness", "Document capture for accounting", 4_000, 30_000),
    ("NewBusiness", "Nordlicht Business for {employees} users", 12_000, 120_000),
    ("Expansion", "Second site in {city}", 5_000, 60_000),
    ("Expansion", "20 more users and API package", 4_000, 18_000),
    ("Expansion", "Scanners for the branches", 2_500, 16_000),
    ("Renewal", "Renewal of the Team plan", 3_000, 40_000),
    ("Renewal", "Three-year contract", 15_000, 150_000),
)
NEXT_STEPS = (
    "Send the revised offer",
    "Call back after the board meeting",
    "Demo with the IT team",
    "Wait for the signed order",
    "Visit the warehouse",
    "Clarify data protection questions",
    "Offer a test terminal for two weeks",
    "Agree on the payment plan",
)
COMPETITORS = ("Zeitwerk", "LabelPro", "Papyrus Cloud", "own development", "spreadsheets")
LOST_NOTES = {
    "Price": "The offer of a competitor was about a fifth cheaper.",
    "Competitor": "They stay with the system that their group uses.",
    "Timing": "The project moves to the year after next.",
    "NoBudget": "All investments were stopped for this year.",
    "NoDecision": "No decision in spite of several reminders.",
    "ProductFit": "They need shift planning, which we do not have.",
    "Other": "The contact left the company and nobody took over.",
}
LEAD_NOTES = (
    "Asked for prices of ten terminals over the form on the website.",
    "Met at the trade fair; wants to see the label printer with our own labels.",
    "Recommended by a client; works with paper forms today.",
    "Downloaded the guide to electronic invoices.",
    "Has to replace an old system that is no longer supported.",
    "Looking for document capture with retention periods.",
    "Compares three vendors, decision within the quarter.",
    "Wants to connect the till system over the API.",
)
