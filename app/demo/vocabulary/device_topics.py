"""What customers ask about terminals, printers, scanners and gateways."""

from __future__ import annotations

from app.demo.vocabulary.topic import Topic

DEVICE_TOPICS = (
    Topic(
        article="terminal-t2-offline",
        type="Incident",
        category="Devices",
        priorities="NHHU",
        cases=(
            (
                "Terminal shows a yellow light",
                "The terminal at the entrance shows a yellow light since 6 o'clock "
                "and our staff cannot see whether their bookings arrive. The network "
                "socket was moved last week.",
            ),
            (
                "Aurora T2 offline since this morning",
                "Two of our four terminals are offline. We restarted both, without "
                "success. The diagnosis page stops at step 4, server.",
            ),
            (
                "Clock-ins of the night shift are missing",
                "Nobody of the night shift appears in the list of bookings. The "
                "terminal in the hall was yellow when we came in, now it is green "
                "again.",
            ),
        ),
        answers=(
            (
                "Yellow means that the terminal stores bookings and sends them later: "
                "nothing is lost. Could you check whether outgoing TCP port 443 to "
                "devices.nordlicht.example is open in your firewall?"
            ),
            "Thank you. The terminal reported itself a minute ago and has sent 214 bookings.",
        ),
        resolution=(
            "Outgoing port 443 was blocked after a change of the firewall; opened by the "
            "customer, bookings arrived complete."
        ),
    ),
    Topic(
        article="terminal-t2-setup",
        type="Request",
        category="Devices",
        priorities="LNN",
        cases=(
            (
                "New Aurora T2: pairing code is refused",
                "We mounted the new terminal today. When I type the pairing code of "
                "the display into the device portal, it says that the code is "
                "unknown.",
            ),
            (
                "Which power supply does the T2 need?",
                "There is no power supply in the box of our two new terminals. Our "
                "switch in the workshop has no PoE.",
            ),
        ),
        answers=(
            (
                "The code is valid for 15 minutes. Please touch New code on the terminal "
                "and type the new one within that time."
            ),
            (
                "The T2 is fed through the network cable. Without PoE in the switch you "
                "need the injector; I have put one on an offer."
            ),
        ),
        resolution="Paired with a new code; injector delivered.",
    ),
    Topic(
        article="label-printer-p80",
        type="Incident",
        category="Devices",
        priorities="NNH",
        cases=(
            (
                "P80 prints blank labels",
                "Since we put in a new roll this morning every label comes out blank."
                " The light is green.",
            ),
            (
                "Every second label stays empty",
                "Since we opened a new box of labels the printer leaves every second "
                "label empty. The labels are a little longer than the old ones.",
            ),
            (
                "Label printer blinks red three times",
                "The P80 in goods receipt stopped in the middle of a label and blinks"
                " red, three times, again and again.",
            ),
            (
                "White line through all labels",
                "All labels have a thin white line at the same place, so that the "
                "scanner at the gate cannot read the barcode.",
            ),
        ),
        answers=(
            (
                "Please hold the feed key until the light blinks twice, then let go. The "
                "printer then measures two labels and learns the new length."
            ),
            "Good to hear that it prints again. I leave the ticket open until tomorrow.",
        ),
        resolution="Calibrated after a change of label material; print head cleaned.",
    ),
    Topic(
        article="scanner-s40-setup",
        type="Question",
        category="Devices",
        priorities="LN",
        cases=(
            (
                "Scan directly into the platform",
                "How do we get scans of delivery notes into the documents of the "
                "right folder without a computer in between?",
            ),
            (
                "Scans are too large",
                "A contract of 60 pages became a file of 180 MB and is refused. Which"
                " settings do you recommend?",
            ),
        ),
        answers=(
            (
                "Add a scan profile with folder and category. 300 dpi in greyscale is "
                "enough for text and needs about 90 KB a page."
            ),
        ),
        resolution="Scan profile set up with 300 dpi, greyscale, both sides.",
    ),
    Topic(
        article="scanner-s40-faults",
        type="Incident",
        category="Devices",
        priorities="LNN",
        cases=(
            (
                "Scanner pulls in two sheets at once",
                "The S40 pulls in several sheets as soon as the stack is higher than "
                "a centimetre. It was fine until last month.",
            ),
            (
                "Vertical stripes on all scans",
                "All scans have a thin dark stripe, always in the same place, on the "
                "front page only.",
            ),
            (
                "Scanner shows E401",
                "Since Monday nothing arrives in the folder. The display of the "
                "scanner says E401 and the pages wait in the outbox.",
            ),
        ),
        answers=(
            (
                "This is usually the feed roller or dust on the glass strip. Please clean"
                " both and tell me the counter under Maintenance: the rollers last about "
                "200,000 pages."
            ),
        ),
        resolution="Glass strip cleaned, feed rollers replaced under warranty.",
    ),
    Topic(
        article="gateway-g1-network",
        type="Incident",
        category="Devices",
        priorities="NHH",
        cases=(
            (
                "Gateway: red cloud, green net",
                "Our new Aurora G1 has a red Cloud light. All devices behind it are "
                "yellow. Our administrator says that the internet works.",
            ),
            (
                "Ports for the gateway",
                "Our IT department needs a list of all connections of the gateway for"
                " the firewall, with direction and purpose.",
            ),
        ),
        answers=(
            (
                "The gateway opens outgoing TCP 443 and UDP 123 only, and needs your DNS."
                " Please exclude devices.nordlicht.example from the inspection of "
                "encrypted traffic."
            ),
        ),
        resolution="Exception in the firewall's traffic inspection; all devices are green.",
    ),
    Topic(
        article="device-warranty",
        type="Request",
        category="Devices",
        priorities="NN",
        cases=(
            (
                "Display of a terminal is dead",
                "One T2 stays black. Another one works on the same cable. It was "
                "delivered in spring, so it should be under warranty.",
            ),
            (
                "Repair or replace an older printer?",
                "The head of our oldest P80 is worn. It is three years old. What does"
                " a repair cost, and is it worth it?",
            ),
        ),
        answers=(
            (
                "It is under warranty. I have sent you the label for the return; a loan "
                "device leaves us today."
            ),
        ),
        resolution="Exchanged under warranty, loan device returned.",
    ),
    Topic(
        article="etikettendrucker-p80",
        type="Incident",
        category="Devices",
        priorities="NH",
        language="de",
        cases=(
            (
                "Etiketten bleiben leer",
                "Seit dem Rollenwechsel kommen nur leere Etiketten heraus. Das Licht ist grün.",
            ),
            (
                "P80 blinkt dreimal rot",
                "Der Drucker im Wareneingang hat mitten im Etikett angehalten und "
                "blinkt dreimal rot.",
            ),
        ),
        answers=(
            (
                "Vermutlich liegt die Rolle verkehrt herum: Die Seite, die beim Kratzen "
                "grau wird, gehört nach oben."
            ),
        ),
        resolution="Rolle gedreht, Testseite gut.",
    ),
)
