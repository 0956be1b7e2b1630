"""What customers ask about interfaces, imports, figures and their start with us."""

from __future__ import annotations

from app.demo.vocabulary.topic import Topic

DATA_TOPICS = (
    Topic(
        article="first-api-request",
        type="Question",
        category="Integrations",
        priorities="LN",
        cases=(
            (
                "First steps with the API",
                "We want to read our clients with a script. Where do we start, and "
                "how do we sign in?",
            ),
            (
                "401 with a valid token",
                "Our program worked for a quarter of an hour and now gets 401 for every request.",
            ),
        ),
        answers=(
            (
                "An access token is good for 900 seconds; refresh it before, or use an "
                "API key, which is meant for programs."
            ),
        ),
        resolution="Program uses an API key now.",
    ),
    Topic(
        article="webhooks-set-up",
        type="Question",
        category="Integrations",
        priorities="LN",
        cases=(
            (
                "Which events are there?",
                "We want to be told when an invoice is paid. Which event do we register?",
            ),
            (
                "Address of the webhook is refused",
                "Registration of our webhook fails: the address is not allowed. It is"
                " a server in our own network.",
            ),
        ),
        answers=(
            (
                "invoice.paid is the one. The address must be reachable from the internet"
                " over https; private addresses are refused."
            ),
        ),
        resolution="Webhook registered with a public address.",
    ),
    Topic(
        article="webhook-signatures",
        type="Question",
        category="Integrations",
        priorities="NN",
        cases=(
            (
                "Signature never matches",
                "We compute the HMAC over the body but it never equals the header.",
            ),
            (
                "Some deliveries fail the check",
                "One of our two servers rejects every webhook because of the timestamp.",
            ),
        ),
        answers=(
            (
                "Please sign the raw bytes: id, timestamp and body with dots between, and"
                " decode the secret from base64 first. The clock may differ by 5 minutes "
                "at most."
            ),
        ),
        resolution="Signature checked over the raw body; clock of the second server set.",
    ),
    Topic(
        article="webhook-failures",
        type="Problem",
        category="Integrations",
        priorities="NHH",
        cases=(
            (
                "Webhook deliveries stopped",
                "Since our maintenance last night no events arrive at our endpoint.",
            ),
            (
                "We get no invoice.paid events since last week",
                "Our endpoint answered 500 for a week and was then disabled.",
            ),
        ),
        answers=(
            (
                "Your endpoint failed for five days in a row and was disabled. Enable it "
                "again; recover sends the events that were missed."
            ),
        ),
        resolution="Endpoint enabled, missed events recovered.",
    ),
    Topic(
        article="rate-limits",
        type="Question",
        category="Integrations",
        priorities="NN",
        cases=(
            (
                "API answers 429",
                "Our nightly job reads all clients one by one and gets 429 after a while.",
            ),
            (
                "Limit for the whole company?",
                "Are the 1,000 requests a minute for each key or for all our keys together?",
            ),
        ),
        answers=(
            (
                "Please read whole pages and follow the next link instead of single "
                "records; each API key may send 1,000 requests a minute."
            ),
        ),
        resolution="Customer reads pages now; far below the limit.",
    ),
    Topic(
        article="idempotency-keys",
        type="Question",
        category="Integrations",
        priorities="LN",
        cases=(
            (
                "Payment booked twice by our script",
                "After a timeout our script sent a payment again. How do we prevent "
                "that it is booked twice?",
            ),
        ),
        answers=(
            (
                "Send an Idempotency-Key with each POST: the same key within 24 hours "
                "gets the first answer again and nothing happens twice."
            ),
        ),
        resolution="Key added to the script.",
    ),
    Topic(
        article="odata-filter-cookbook",
        type="Question",
        category="Integrations",
        priorities="LN",
        cases=(
            (
                "How do I filter by date?",
                "We want all invoices of the last quarter that are not paid. What is the filter?",
            ),
            (
                "Filter with an apostrophe in the name fails",
                "A client is called O'Connor and our filter answers 400.",
            ),
        ),
        answers=("Double the apostrophe: name eq 'O''Connor'. More examples are in the cookbook.",),
        resolution="Example filter sent.",
    ),
    Topic(
        article="connect-excel",
        type="Question",
        category="Integrations",
        priorities="LNN",
        cases=(
            (
                "Connect Excel to our data",
                "Excel asks how to sign in when I enter the address. What do I choose?",
            ),
            (
                "Excel cannot refresh any more",
                "The workbook worked for months. Since this week it says that it "
                "could not authenticate.",
            ),
        ),
        answers=(
            (
                "Choose Basic, type any user name and use an API key as the password. If "
                "the key has expired, enter the new one under Data Source Settings."
            ),
        ),
        resolution="Connected with an API key.",
    ),
    Topic(
        article="connect-power-bi",
        type="Question",
        category="Integrations",
        priorities="LN",
        cases=(
            (
                "Power BI shows wrong totals",
                "The sum of all invoices in our dashboard is higher than in your report.",
            ),
            (
                "Scheduled refresh fails",
                "Since Monday the refresh of our dashboard fails with invalid credentials.",
            ),
        ),
        answers=(
            (
                "Different currencies were added up: sum baseTotal instead of total. For "
                "the refresh, enter the new key in the settings of the model."
            ),
        ),
        resolution="Dashboard sums baseTotal; new key entered.",
    ),
    Topic(
        article="import-data",
        type="Request",
        category="Data",
        priorities="LN",
        cases=(
            (
                "Import of 4,000 contacts",
                "We want to bring our contacts from the old system. In which form do "
                "you need them?",
            ),
            (
                "Our import reports problems",
                "The check lists 37 rows with a wrong country. How do we have to write it?",
            ),
            (
                "Umlauts are broken after the import",
                "Names with ä and ö look wrong after our import of a CSV file.",
            ),
        ),
        answers=(
            (
                "A CSV or Excel file with the field names of the API in the first row; "
                "countries have two letters. Run the check first: it changes nothing."
            ),
        ),
        resolution="Import checked, then run by the customer.",
    ),
    Topic(
        article="export-data",
        type="Question",
        category="Data",
        priorities="LN",
        cases=(
            (
                "Export says that it was cut",
                "Our export has a note that rows are missing. How do we get all of them?",
            ),
            (
                "Complete copy of our data",
                "We need a full copy of our data for an audit.",
            ),
        ),
        answers=(
            (
                "Large tables are better read through OData, page by page. For everything"
                " at once, an administrator asks us for the archive, free once a year."
            ),
        ),
        resolution="Archive delivered within five working days.",
    ),
    Topic(
        article="ask-your-data",
        type="Question",
        category="Data",
        priorities="LL",
        cases=(
            (
                "Two colleagues get different numbers",
                "For the same question my colleague sees 41 open opportunities and I see 17.",
            ),
        ),
        answers=(
            (
                "Everybody asks with their own rights: you see your own records, your "
                "colleague sees all."
            ),
        ),
        resolution="Explained the rights behind the answer.",
    ),
    Topic(
        article="assistant-guide",
        type="Question",
        category="Data",
        priorities="LL",
        cases=(
            (
                "Does the assistant send our data away?",
                "Before we use the assistant we must know whether texts leave the platform.",
            ),
        ),
        answers=(
            (
                "Without an outside provider everything runs inside the platform and no "
                "text leaves it. Your administrator decides about that."
            ),
        ),
        resolution="Answered.",
    ),
    Topic(
        article="onboarding-plan",
        type="Request",
        category="Onboarding",
        priorities="N",
        cases=(
            (
                "What do we have to prepare?",
                "Our kick-off is next week. What should we have ready, and who should be there?",
            ),
        ),
        answers=(
            (
                "One person who decides, one who knows the data and one from IT, and a "
                "list of users with their roles."
            ),
        ),
        resolution="Kick-off prepared.",
    ),
    Topic(
        article="training-booking",
        type="Request",
        category="Onboarding",
        priorities="L",
        cases=(
            (
                "Training for three new colleagues",
                "Three new colleagues start on the first. Is there a course in that week?",
            ),
            (
                "Move our training to next month",
                "Half of the team is ill. Can we move the course of next week?",
            ),
        ),
        answers=(
            (
                "Until 7 days before the course you may move it once free of charge. I "
                "have reserved places on a Wednesday."
            ),
        ),
        resolution="Course moved, places booked.",
    ),
    Topic(
        article="premieres-semaines",
        type="Request",
        category="Onboarding",
        priorities="N",
        language="fr",
        cases=(
            (
                "Que faut-il préparer pour le lancement ?",
                "Notre réunion de lancement a lieu la semaine prochaine. Que devons-"
                "nous préparer ?",
            ),
        ),
        answers=(
            (
                "La liste des utilisateurs avec leurs rôles, et une personne qui décide, "
                "une pour les données et une pour l'informatique."
            ),
        ),
        resolution="Réunion préparée.",
    ),
)
