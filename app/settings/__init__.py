"""Settings of the organisation that runs the platform (docs/organisation.md)."""

from app.settings.groups import Organisation, Seller, ServiceLevel
from app.settings.store import change_settings, hold_settings, organisation, save_settings

__all__ = [
    "Organisation",
    "Seller",
    "ServiceLevel",
    "change_settings",
    "hold_settings",
    "organisation",
    "save_settings",
]
