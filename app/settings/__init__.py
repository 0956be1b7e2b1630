"""Settings of the organisation that runs the platform (docs/organisation.md)."""

from app.settings.changes import change_settings, save_settings
from app.settings.groups import Organisation, Seller, ServiceLevel
from app.settings.store import hold_settings, organisation

__all__ = [
    "Organisation",
    "Seller",
    "ServiceLevel",
    "change_settings",
    "hold_settings",
    "organisation",
    "save_settings",
]
