"""What customers ask, and what support answers; each topic belongs to an article."""

from __future__ import annotations

from app.demo.vocabulary.billing_topics import BILLING_TOPICS
from app.demo.vocabulary.data_topics import DATA_TOPICS
from app.demo.vocabulary.device_topics import DEVICE_TOPICS
from app.demo.vocabulary.platform_topics import PLATFORM_TOPICS

TOPICS = (*DEVICE_TOPICS, *BILLING_TOPICS, *PLATFORM_TOPICS, *DATA_TOPICS)
# What people write in between, by language.
FOLLOW_UPS = {
    "en": (
        "Thank you, I will try that and let you know.",
        "That did not help yet. Is there anything else we can check?",
        "Here is what we see: the picture is in the documents.",
        "It works now, thank you for the quick help!",
        "We cannot test this before tomorrow morning.",
    ),
    "de": (
        "Danke, das probiere ich aus und melde mich.",
        "Das hat noch nicht geholfen. Was können wir noch prüfen?",
        "Jetzt klappt es, vielen Dank für die schnelle Hilfe!",
    ),
    "fr": (
        "Merci, j'essaie et je vous tiens au courant.",
        "Cela fonctionne maintenant, merci pour votre aide rapide !",
    ),
}
INTERNAL_NOTES = (
    "Looked at the log: nothing unusual in the last days.",
    "Same client had this in spring, see the older ticket.",
    "Asked development whether this is a known fault.",
    "The answer is in the article; linked it.",
)
