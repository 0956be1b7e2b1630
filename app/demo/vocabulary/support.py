"""What customers ask, and what support answers; each topic belongs to an article."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Topic:
    """A kind of ticket; ``article`` is the key of the article that answers it."""

    article: str
    type: str
    category: str
    priorities: str  # initials of Low, Normal, High, Urgent, as often as likely
    subjects: tuple[str, ...]
    descriptions: tuple[str, ...]
    answers: tuple[str, ...]
    resolution: str


TOPICS = (
    Topic(
        "terminal-t2-offline",
        "Incident",
        "Devices",
        "NHHU",
        (
            "Terminal shows a yellow light",
            "Aurora T2 offline since this morning",
            "Clock-ins of the night shift are missing",
        ),
        (
            "The terminal at the entrance shows a yellow light since 6 o'clock and our staff cannot"
            " see whether their bookings arrive. The network socket was moved last week.",
            "Two of our four terminals are offline. We restarted both, without success.",
        ),
        (
            "Yellow means that the terminal stores bookings and sends them later: nothing is lost."
            " Could you check whether port 8883 to our gateway is open in your firewall?",
            "Thank you. The terminal reported itself a minute ago and has sent 214 bookings.",
        ),
        "Outgoing port 8883 was blocked after a change of the firewall; opened by the customer.",
    ),
    Topic(
        "label-printer-p80",
        "Incident",
        "Devices",
        "NNH",
        (
            "P80 prints blank labels",
            "Label printer cuts in the middle of the label",
            "Every second label stays empty",
        ),
        (
            "Since we opened a new box of labels the printer leaves every second label empty.",
            "The P80 in goods receipt prints stripes and then stops with error E3.",
        ),
        (
            "Please run the calibration: hold the feed key until the light blinks twice, then let"
            " go. The sensor then learns the gap of the new labels.",
            "Good to hear that it prints again. I leave the ticket open until tomorrow.",
        ),
        "Calibrated after a change of label material; print head cleaned.",
    ),
    Topic(
        "scanner-s40-faults",
        "Incident",
        "Devices",
        "LNN",
        ("Scanner pulls in two sheets at once", "Vertical stripes on all scans"),
        (
            "The S40 pulls in several sheets as soon as the stack is higher than a centimetre.",
            "All scans have a thin dark stripe, always in the same place.",
        ),
        (
            "This is usually the separation roller. Please clean it with a damp cloth and check the"
            " counter under Maintenance: it lasts about 60,000 sheets.",
        ),
        "Separation roller replaced under warranty.",
    ),
    Topic(
        "account-locked",
        "Question",
        "Account and security",
        "NHH",
        ("Account locked after a typo", "Cannot sign in any more", "Login says 423"),
        (
            "I mistyped my password several times and now even the right one is refused.",
            "A colleague's account is locked and he needs it for the month-end closing today.",
        ),
        (
            "After five wrong attempts an account is locked for fifteen minutes. Your administrator"
            " can lift the lock at once under Administration, Users, Unlock.",
        ),
        "Unlocked by the customer's administrator.",
    ),
    Topic(
        "reset-password",
        "Request",
        "Account and security",
        "NN",
        ("Please reset my password", "Forgotten password"),
        ("I was on leave for three months and do not remember my password.",),
        (
            "For your safety we cannot do this by mail; your administrator can under"
            " Administration, Users, Reset password.",
        ),
        "Password reset by the customer's administrator.",
    ),
    Topic(
        "read-your-invoice",
        "Question",
        "Billing",
        "LNN",
        (
            "Question about our last invoice",
            "What does this line on the invoice mean?",
            "Two amounts of tax on one invoice",
        ),
        (
            "On our last invoice there are two lines for the Team plan. Are we charged twice?",
            "Our accounting asks why the total differs by two cents from the sum of the lines.",
        ),
        (
            "The second line covers the users that you added in the middle of the month, for the"
            " days that were left.",
            "Tax is rounded once for each rate and not for each line; that is where the cents come"
            " from.",
        ),
        "Explained; the invoice is right.",
    ),
    Topic(
        "change-billing-details",
        "Request",
        "Billing",
        "LN",
        ("New billing address", "Please send invoices to another e-mail address"),
        (
            "We have moved. Please use the new address from the first of next month.",
            "Invoices should go to our invoice mailbox from now on.",
        ),
        (
            "Done: the next invoice carries the new details. Invoices that were already issued"
            " cannot be changed.",
        ),
        "Billing details changed.",
    ),
    Topic(
        "payment-reminders",
        "Question",
        "Billing",
        "NH",
        ("Reminder although we have paid", "Second reminder for a paid invoice"),
        ("We received a reminder for an invoice that we paid eight days ago by transfer.",),
        (
            "Your transfer arrived without the invoice number, so it could not be matched. I have"
            " assigned it now; please take the reminder as settled.",
        ),
        "Payment matched by hand; reminder withdrawn.",
    ),
    Topic(
        "vat-reverse-charge",
        "Question",
        "Billing",
        "LN",
        ("Invoice without VAT", "Reverse charge: is our VAT number missing?"),
        ("Our invoice shows no VAT. Is that correct for a company in our country?",),
        (
            "Yes: within the European Union the recipient owes the tax. Your VAT number and the"
            " note stand on the invoice.",
        ),
        "Explained reverse charge.",
    ),
    Topic(
        "webhook-failures",
        "Problem",
        "Integrations",
        "NHH",
        ("Webhook deliveries stopped", "We get no invoice.paid events since yesterday"),
        (
            "Since our maintenance last night no events arrive at our endpoint.",
            "Our endpoint answered 500 for a while and was then disabled.",
        ),
        (
            "Your endpoint failed for five days in a row and was disabled. I have enabled it again;"
            " you can have the missed events sent once more with recover.",
        ),
        "Endpoint enabled, missed events recovered.",
    ),
    Topic(
        "rate-limits",
        "Question",
        "Integrations",
        "NN",
        ("API answers 429", "Rate limit reached during the nightly import"),
        ("Our nightly job reads all clients one by one and gets 429 after a while.",),
        (
            "Please read pages with $top and follow the next link instead of single records; an API"
            " key may send 1,000 requests a minute.",
        ),
        "Customer reads pages now; far below the limit.",
    ),
    Topic(
        "odata-filter-cookbook",
        "Question",
        "Integrations",
        "LN",
        ("How do I filter by date?", "Filter with an apostrophe in the name fails"),
        (
            "We want all invoices of the last quarter that are not paid. What is the filter?",
            "A client is called O'Connor and our filter answers 400.",
        ),
        ("Double the apostrophe: name eq 'O''Connor'. More examples are in the cookbook.",),
        "Example filter sent.",
    ),
    Topic(
        "connect-excel",
        "Question",
        "Integrations",
        "LNN",
        ("Connect Excel to our data", "Excel asks for a user name and password"),
        ("Excel asks how to sign in when I enter the address. What do I choose?",),
        ("Choose Basic, leave the user name empty and use an API key as the password.",),
        "Connected with an API key.",
    ),
    Topic(
        "restore-documents",
        "Request",
        "Documents",
        "NH",
        ("Deleted contract by mistake", "Restore an older version of a file"),
        ("A colleague deleted the signed contract of a client last week. Can we get it back?",),
        ("Deleted documents can be restored for thirty days. Your administrator has it back now.",),
        "Document restored.",
    ),
    Topic(
        "import-data",
        "Request",
        "Data",
        "LN",
        ("Import of 4,000 contacts", "Our import reports problems"),
        ("We want to bring our contacts from the old system. In which form do you need them?",),
        (
            "One JSON file with the fields of the API. A trial run lists all problems and keeps"
            " nothing; shall we look at the first file together?",
        ),
        "Import tested, then run by the customer.",
    ),
    Topic(
        "training-booking",
        "Request",
        "Onboarding",
        "L",
        ("Training for three new colleagues", "Move our training to next month"),
        ("Three new colleagues start on the first. Is there a course in that week?",),
        ("There are places on Wednesday; I have reserved three until Friday.",),
        "Three places booked.",
    ),
    Topic(
        "renewal-cancellation",
        "Question",
        "Billing",
        "LN",
        ("When does our contract end?", "Change from Team to Business"),
        ("We want to change the plan. From when does the new price apply?",),
        ("The change to a larger plan applies at once; the days that were paid are credited.",),
        "Plan changed.",
    ),
)
FOLLOW_UPS = (
    "Thank you, I will try that and let you know.",
    "That did not help yet. Is there anything else we can check?",
    "Here is what the display says: see the photo in the documents.",
    "It works again, thank you for the quick help!",
    "We cannot test this before tomorrow morning.",
)
INTERNAL_NOTES = (
    "Looked at the device log: nothing unusual before the restart.",
    "Same client had this in spring, see the older ticket.",
    "Asked development whether this is a known fault.",
    "Client is on the Business plan, answer within four hours.",
)
