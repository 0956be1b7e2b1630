"""What customers ask about invoices, payments and contracts."""

from __future__ import annotations

from app.demo.vocabulary.topic import Topic

BILLING_TOPICS = (
    Topic(
        article="read-your-invoice",
        type="Question",
        category="Billing",
        priorities="LNN",
        cases=(
            (
                "What does this line on the invoice mean?",
                "On our last invoice there are two lines for the Team plan. Are we charged twice?",
            ),
            (
                "The total differs by two cents",
                "Our accounting asks why the total differs by two cents from the sum of the lines.",
            ),
            (
                "Invoice missing in our records",
                "We cannot find your invoice of last month. Please send it again.",
            ),
        ),
        answers=(
            (
                "The second line covers the users that you added during the year, for the"
                " months that were left."
            ),
            (
                "Tax is rounded once for each rate and not for each line; that is where "
                "the cents come from."
            ),
        ),
        resolution="Explained; the invoice is right.",
    ),
    Topic(
        article="payment-terms",
        type="Question",
        category="Billing",
        priorities="LN",
        cases=(
            (
                "Can we pay by card?",
                "Our office manager would like to pay small invoices with the company"
                " card. Is that possible?",
            ),
            (
                "Longer payment period",
                "Our group pays all suppliers after 60 days. Can our terms be changed?",
            ),
            (
                "Five euros are still open",
                "We transferred the whole amount, but the invoice is still shown as partly paid.",
            ),
        ),
        answers=(
            (
                "The sender's bank took its charges out of the transfer. Please choose "
                "the option OUR next time; I have credited the rest."
            ),
        ),
        resolution="Answered; terms changed to 60 days by the account manager where agreed.",
    ),
    Topic(
        article="change-billing-details",
        type="Request",
        category="Billing",
        priorities="LN",
        cases=(
            (
                "New billing address",
                "We have moved. Please use the new address from the first of next month.",
            ),
            (
                "Please send invoices to another e-mail address",
                "Invoices should go to our invoice mailbox from now on, not to my "
                "personal address.",
            ),
            (
                "Purchase order number on the invoice",
                "Our accounts department rejects invoices without our order number. "
                "Please add it to the last one.",
            ),
        ),
        answers=(
            (
                "Done: the next invoice carries the new details. Invoices that were "
                "already issued cannot be changed."
            ),
        ),
        resolution="Billing details changed.",
    ),
    Topic(
        article="payment-reminders",
        type="Question",
        category="Billing",
        priorities="NH",
        cases=(
            (
                "Reminder although we have paid",
                "We received a reminder for an invoice that we paid eight days ago by transfer.",
            ),
            (
                "Second reminder for a disputed invoice",
                "We wrote to you about the wrong quantity two weeks ago and now got "
                "the next reminder.",
            ),
            (
                "Can we pay in instalments?",
                "The last invoice is larger than planned. Could we pay it in three parts?",
            ),
        ),
        answers=(
            (
                "Your transfer arrived without the invoice number, so it could not be "
                "matched. I have assigned it now; please take the reminder as settled."
            ),
        ),
        resolution="Payment matched by hand; reminder withdrawn.",
    ),
    Topic(
        article="refunds-credit-balance",
        type="Request",
        category="Billing",
        priorities="NN",
        cases=(
            (
                "Paid twice by mistake",
                "Our bank sent the same transfer two days in a row. Please send the "
                "second one back.",
            ),
            (
                "What is our credit balance?",
                "Your last mail mentions a credit balance. Where does it come from "
                "and can it be used for the next invoice?",
            ),
            (
                "Return of two unused terminals",
                "We ordered two terminals too many. They are still in their boxes. "
                "Can we give them back?",
            ),
        ),
        answers=(
            (
                "The second payment arrived. I can send it back within 14 days or keep it"
                " as a balance for your next invoice; which do you prefer?"
            ),
        ),
        resolution="Second payment refunded to the account it came from.",
    ),
    Topic(
        article="vat-reverse-charge",
        type="Question",
        category="Billing",
        priorities="LN",
        cases=(
            (
                "Invoice without VAT",
                "Our invoice shows no VAT. Is that correct for a company in our country?",
            ),
            (
                "Please remove the 19 %",
                "We are a company in another country of the European Union and were "
                "charged German VAT.",
            ),
        ),
        answers=(
            (
                "Within the European Union the recipient owes the tax, provided that we "
                "have your VAT number before the invoice is issued. Please send it to us."
            ),
        ),
        resolution="VAT number entered; invoice credited and issued again without VAT.",
    ),
    Topic(
        article="e-invoices",
        type="Question",
        category="Billing",
        priorities="LNN",
        cases=(
            (
                "Import of your invoices fails",
                "Our accounting program says that the sum of the lines differs when "
                "we import your PDF.",
            ),
            (
                "Is there an XML of the invoice?",
                "From next year on we can only process electronic invoices. In which "
                "format do you send them?",
            ),
        ),
        answers=(
            (
                "Every PDF of ours is a Factur-X invoice with the XML inside; UBL can be "
                "downloaded beside it. Please switch the program to rounding per VAT "
                "rate."
            ),
        ),
        resolution="Import works with rounding per VAT rate.",
    ),
    Topic(
        article="renewal-cancellation",
        type="Question",
        category="Billing",
        priorities="LN",
        cases=(
            (
                "When does our contract end?",
                "Could you tell us the end of our contract and the last day for changes?",
            ),
            (
                "Change from Team to Business",
                "We want to change the plan now. From when does the new price apply?",
            ),
            (
                "Fewer users from next year on",
                "We close a branch and need 15 users less. Please reduce the quantity.",
            ),
        ),
        answers=(
            (
                "A larger plan applies from the day you order, a smaller one from the "
                "next renewal; changes must reach us 60 days before the end of the "
                "period."
            ),
        ),
        resolution="Plan changed and confirmed in writing.",
    ),
    Topic(
        article="sepa-lastschrift",
        type="Request",
        category="Billing",
        priorities="LN",
        language="de",
        cases=(
            (
                "Umstellung auf Lastschrift",
                "Wir möchten künftig per Lastschrift zahlen. Bitte schicken Sie uns das Formular.",
            ),
            (
                "Rücklastschrift trotz Deckung",
                "Die Abbuchung vom Montag wurde zurückgegeben, obwohl das Konto gedeckt ist.",
            ),
        ),
        answers=(
            (
                "Bei der Firmenlastschrift muss Ihre Bank das Mandat vor der ersten "
                "Abbuchung kennen. Bitte geben Sie es dort frei."
            ),
        ),
        resolution="Mandat bei der Bank bestätigt, Lastschrift wiederholt.",
    ),
    Topic(
        article="e-rechnung-behoerden",
        type="Question",
        category="Billing",
        priorities="N",
        language="de",
        cases=(
            (
                "Leitweg-ID fehlt auf der Rechnung",
                "Das Portal hat Ihre Rechnung mit BR-DE-15 abgewiesen. Unsere "
                "Leitweg-ID steht auf der Bestellung.",
            ),
        ),
        answers=(
            (
                "Ich habe die Leitweg-ID als Käuferreferenz eingetragen. Sie erhalten "
                "eine Gutschrift und eine neue Rechnung."
            ),
        ),
        resolution="Leitweg-ID eingetragen, Rechnung neu ausgestellt.",
    ),
    Topic(
        article="tva-autoliquidation",
        type="Question",
        category="Billing",
        priorities="LN",
        language="fr",
        cases=(
            (
                "Facture avec la TVA allemande",
                "Nous sommes une société française et vous nous facturez 19 % de TVA."
                " Est-ce normal ?",
            ),
        ),
        answers=(
            (
                "Il nous manquait votre numéro de TVA intracommunautaire. Vous recevez un"
                " avoir et une nouvelle facture sans TVA."
            ),
        ),
        resolution="Numéro enregistré, facture corrigée par avoir.",
    ),
)
