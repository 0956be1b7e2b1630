"""What customers ask about accounts, records, documents and privacy."""

from __future__ import annotations

from app.demo.vocabulary.topic import Topic

PLATFORM_TOPICS = (
    Topic(
        article="account-locked",
        type="Question",
        category="Account and security",
        priorities="NHH",
        cases=(
            (
                "Account locked after a typo",
                "I mistyped my password several times and now even the right one is refused.",
            ),
            (
                "A colleague cannot sign in",
                "A colleague's account is locked and he needs it for the month-end closing today.",
            ),
            (
                "Locked again after every unlock",
                "Our administrator has unlocked me three times today and a few "
                "minutes later I am locked out again. I did not type anything wrong.",
            ),
        ),
        answers=(
            (
                "After five wrong attempts within 15 minutes an account is locked for 15 "
                "minutes. Your administrator can lift the lock at once under "
                "Administration, Users, Unlock."
            ),
            (
                "Please look for a program that still has the old password, such as a "
                "spreadsheet with a stored sign-in."
            ),
        ),
        resolution="Unlocked by the administrator; a spreadsheet had the old password.",
    ),
    Topic(
        article="reset-password",
        type="Request",
        category="Account and security",
        priorities="NN",
        cases=(
            (
                "Forgotten password",
                "I was on leave for three months and do not remember my password.",
            ),
            (
                "New password is not accepted",
                "I tried five new passwords and all are refused, although they have "
                "digits and capital letters.",
            ),
        ),
        answers=(
            (
                "For your safety we cannot do this by mail; your administrator can under "
                "Administration, Users, Reset password. A new one needs at least 12 "
                "characters."
            ),
        ),
        resolution="Password reset by the customer's administrator.",
    ),
    Topic(
        article="roles-and-users",
        type="Question",
        category="Account and security",
        priorities="LN",
        cases=(
            (
                "No permission to issue invoices",
                "Our new colleague in sales cannot send an invoice; the page says "
                "that a permission is missing.",
            ),
            (
                "What happens to the records of someone who leaves?",
                "A colleague leaves at the end of the month. Can we delete the "
                "account, and who gets the open leads?",
            ),
        ),
        answers=(
            (
                "Sales people prepare drafts, and accounting or a manager issues them. "
                "You can give the colleague a second role."
            ),
        ),
        resolution="Explained roles; records moved to another owner first.",
    ),
    Topic(
        article="api-keys",
        type="Question",
        category="Account and security",
        priorities="LN",
        cases=(
            (
                "Lost API key",
                "We have lost the key of our web shop. Can you send it to us again?",
            ),
            (
                "How do we exchange a key without downtime?",
                "The key of our integration expires next week. How do we replace it "
                "while the shop is running?",
            ),
        ),
        answers=(
            (
                "A key is shown once and cannot be read again. Create a second one with "
                "the same role, use it, then revoke the old one."
            ),
        ),
        resolution="Key rotated without interruption.",
    ),
    Topic(
        article="convert-lead",
        type="Question",
        category="Sales",
        priorities="LN",
        cases=(
            (
                "Lead was linked to the wrong client",
                "When I converted a lead it was linked to an existing client with the"
                " same e-mail address. Can I undo that?",
            ),
            (
                "Lead cannot be converted",
                "The button to convert is missing on a lead of a colleague.",
            ),
        ),
        answers=(
            (
                "The address of both was the same, therefore the lead was linked. A "
                "conversion cannot be undone; you can move the contact by hand."
            ),
        ),
        resolution="Contact moved to the right client.",
    ),
    Topic(
        article="merge-duplicates",
        type="Request",
        category="Sales",
        priorities="LN",
        cases=(
            (
                "Same client twice",
                "We have the same company twice, with different spelling, and invoices on both.",
            ),
            (
                "Hundreds of double clients after an import",
                "Our import ran twice and now every client of the south region exists twice.",
            ),
        ),
        answers=(
            (
                "Open the client that should stay and choose Merge; invoices, contacts "
                "and tickets move. With an externalId the next import updates instead of "
                "adding."
            ),
        ),
        resolution="Duplicates merged.",
    ),
    Topic(
        article="upload-documents",
        type="Incident",
        category="Documents",
        priorities="LN",
        cases=(
            (
                "Upload refused with 413",
                "A presentation of 31 MB cannot be uploaded. The page says that the "
                "file is too large.",
            ),
            (
                "Document is in quarantine",
                "A customer's file has the status Quarantined and cannot be "
                "downloaded. What can we do?",
            ),
        ),
        answers=(
            (
                "The limit is 25 MB for a file. An administrator can look at a file in "
                "quarantine and release it."
            ),
        ),
        resolution="File made smaller and uploaded.",
    ),
    Topic(
        article="share-documents",
        type="Question",
        category="Documents",
        priorities="LN",
        cases=(
            (
                "Customer says the link is not valid",
                "We sent a link to a contract ten days ago and the customer says that"
                " it does not work any more.",
            ),
            (
                "Who downloaded our offer?",
                "Can we see whether the recipient has opened the link to our offer?",
            ),
        ),
        answers=(
            (
                "Links end after 7 days unless you choose another date. Please make a new"
                " one; under Shares you see every download."
            ),
        ),
        resolution="New link with a longer period sent.",
    ),
    Topic(
        article="restore-documents",
        type="Request",
        category="Documents",
        priorities="NH",
        cases=(
            (
                "Deleted contract by mistake",
                "A colleague deleted the signed contract of a client last week. Can "
                "we get it back?",
            ),
            (
                "Restore an older version of a file",
                "Somebody uploaded the wrong file as a new version of our price list.",
            ),
        ),
        answers=(
            (
                "Deleted documents can be restored by your administrator for 30 days. "
                "Older versions are never overwritten: download the right one and upload "
                "it again."
            ),
        ),
        resolution="Document restored.",
    ),
    Topic(
        article="gdpr-requests",
        type="Request",
        category="Privacy",
        priorities="NN",
        cases=(
            (
                "Person asks for deletion of their data",
                "A former contact of ours wants all personal data deleted. There are "
                "invoices from last year. What may we delete?",
            ),
            (
                "Request for access to data",
                "We received a request for access under the GDPR. How do we find "
                "everything about a person?",
            ),
        ),
        answers=(
            (
                "Delete the contact and the leads; issued invoices must be kept. You have"
                " one month to answer."
            ),
        ),
        resolution="Contact deleted, invoices kept, request answered by the customer.",
    ),
    Topic(
        article="data-location-retention",
        type="Question",
        category="Privacy",
        priorities="LL",
        cases=(
            (
                "Where is our data stored?",
                "Our data protection officer asks for the place of the data centres "
                "and how long backups are kept.",
            ),
        ),
        answers=(
            (
                "The data is in Frankfurt, encrypted backups are in Helsinki and are kept"
                " for 35 days."
            ),
        ),
        resolution="Answered with the list of sub-processors.",
    ),
    Topic(
        article="support-hours-sla",
        type="Question",
        category="Support",
        priorities="L",
        cases=(
            (
                "Support at the weekend",
                "We work on Saturdays. Can we reach you then if the terminals stop?",
            ),
            (
                "How fast do you respond?",
                "Which response times does our support plan have?",
            ),
        ),
        answers=(
            (
                "Support is there Monday to Friday, 08:00 to 18:00; with Premium, Urgent "
                "tickets are handled around the clock."
            ),
        ),
        resolution="Explained the support plans.",
    ),
    Topic(
        article="maintenance-availability",
        type="Question",
        category="Support",
        priorities="LN",
        cases=(
            (
                "Service was not reachable on Sunday",
                "On Sunday at seven our people could not sign in. Is there a fault?",
            ),
            (
                "Credit for the outage",
                "The service was away for several hours this month. Are we entitled to a credit?",
            ),
        ),
        answers=(
            (
                "That was the planned maintenance: the second Sunday of the month from "
                "06:00 to 08:00. Terminals keep their bookings meanwhile."
            ),
        ),
        resolution="Explained the maintenance window.",
    ),
    Topic(
        article="passwort-zuruecksetzen",
        type="Request",
        category="Account and security",
        priorities="N",
        language="de",
        cases=(
            (
                "Passwort vergessen",
                "Nach meiner Elternzeit weiß ich mein Passwort nicht mehr. Können Sie"
                " es zurücksetzen?",
            ),
        ),
        answers=(
            (
                "Das kann nur Ihr Administrator unter Administration, Benutzer, Passwort "
                "zurücksetzen. Das neue braucht mindestens 12 Zeichen."
            ),
        ),
        resolution="Vom Administrator des Kunden zurückgesetzt.",
    ),
    Topic(
        article="supportzeiten",
        type="Question",
        category="Support",
        priorities="L",
        language="de",
        cases=(
            (
                "Wann erreichen wir Sie?",
                "Sind Sie auch am Samstag erreichbar, und wie schnell reagieren Sie?",
            ),
        ),
        answers=(
            (
                "Montag bis Freitag von 08:00 bis 18:00 Uhr; im Plan Premium bei „Urgent“"
                " rund um die Uhr."
            ),
        ),
        resolution="Supportpläne erklärt.",
    ),
    Topic(
        article="compte-verrouille",
        type="Question",
        category="Account and security",
        priorities="NH",
        language="fr",
        cases=(
            (
                "Compte verrouillé",
                "Je me suis trompée plusieurs fois de mot de passe et maintenant même"
                " le bon est refusé.",
            ),
        ),
        answers=(
            (
                "Après cinq essais erronés, le compte est verrouillé pendant 15 minutes. "
                "Votre administrateur peut lever le verrou tout de suite."
            ),
        ),
        resolution="Déverrouillé par l'administrateur du client.",
    ),
)
