"""What the demonstration sells: subscriptions, devices, services; net prices in euros."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Product:
    """``unit`` is a code of UN/ECE Rec. 20 or 21; quantities run from ``least`` to ``most``."""

    code: str
    description: str
    price: str
    unit: str
    least: int
    most: int
    weight: int


# Every month: (code, description, price of one unit)
SUBSCRIPTIONS = (
    Product("NL-START", "Nordlicht Start, per user and month", "12.00", "C62", 2, 15, 8),
    Product("NL-TEAM", "Nordlicht Team, per user and month", "24.50", "C62", 5, 60, 10),
    Product("NL-BUS", "Nordlicht Business, per user and month", "39.90", "C62", 20, 180, 6),
    Product("NL-API", "API package, 1 million requests", "89.00", "MON", 1, 3, 2),
    Product("NL-ARC", "Document archive, 100 GB", "29.00", "MON", 1, 4, 2),
    Product("SUP-STD", "Support plan Standard", "149.00", "MON", 1, 1, 2),
    Product("SUP-PRM", "Support plan Premium", "390.00", "MON", 1, 1, 1),
    Product("HST-DED", "Dedicated hosting", "480.00", "MON", 1, 1, 1),
)
GOODS = (
    Product("AUR-T2", "Aurora T2 time terminal", "649.00", "C62", 1, 12, 5),
    Product("AUR-T2W", "Aurora T2 time terminal, Wi-Fi", "689.00", "C62", 1, 6, 2),
    Product("AUR-P80", "Aurora P80 label printer", "389.00", "C62", 1, 10, 5),
    Product("AUR-S40", "Aurora S40 document scanner", "279.00", "C62", 1, 6, 4),
    Product("AUR-G1", "Aurora G1 gateway", "219.00", "C62", 1, 4, 4),
    Product("POE-30", "PoE injector for Aurora T2", "39.90", "C62", 1, 8, 3),
    Product("PSU-12", "Power supply 12 V", "24.90", "C62", 1, 8, 2),
    Product("MNT-T2", "Wall mount for Aurora T2", "34.50", "C62", 1, 12, 3),
    Product("STD-T2", "Floor stand for Aurora T2", "129.00", "C62", 1, 4, 1),
    Product("LBL-80", "Label roll 80 mm, box of 12", "46.80", "XBX", 1, 40, 5),
    Product("LBL-57", "Label roll 57 mm, box of 20", "52.40", "XBX", 1, 30, 3),
    Product("CARD-100", "Access cards, pack of 100", "118.00", "XPK", 1, 8, 3),
    Product("FOB-25", "Key fobs, pack of 25", "74.00", "XPK", 1, 6, 2),
    Product("HEAD-80", "Print head for Aurora P80", "96.00", "C62", 1, 3, 1),
    Product("ROLL-40", "Feed rollers for Aurora S40, set", "42.00", "C62", 1, 4, 2),
    Product("CLN-KIT", "Cleaning kit for printers and scanners", "18.90", "C62", 1, 10, 2),
    Product("SEP-50", "Separator sheets for scanning, pack of 50", "12.50", "XPK", 1, 10, 1),
    Product("CAB-5", "Network cable 5 m", "6.90", "C62", 1, 20, 2),
)
SERVICES = (
    Product("SRV-CON", "Consulting", "128.00", "HUR", 2, 40, 4),
    Product("SRV-DEV", "Integration development", "136.00", "HUR", 4, 60, 2),
    Product("SRV-INS", "Installation on site", "96.00", "HUR", 2, 16, 4),
    Product("SRV-MIG", "Data migration", "115.50", "HUR", 4, 32, 2),
    Product("SRV-REP", "Repair after the warranty", "88.00", "HUR", 1, 4, 2),
    Product("SRV-EST", "Estimate for a repair", "45.00", "C62", 1, 2, 1),
    Product("SRV-FRM", "Adaptation of reports and forms", "112.00", "HUR", 1, 12, 2),
    Product("SRV-ONB", "Onboarding, four weeks", "2400.00", "C62", 1, 1, 2),
    Product("TRN-ONL", "Online course, three hours", "390.00", "C62", 1, 3, 3),
    Product("TRN-DAY", "Training course on site, one day", "940.00", "DAY", 1, 4, 2),
    Product("TRN-OPN", "Seat in an open course", "290.00", "C62", 1, 4, 2),
    Product("TRN-ADM", "Administrator certificate, two days", "1180.00", "C62", 1, 2, 1),
    Product("TRV-DE", "Travel flat rate, Germany", "190.00", "C62", 1, 3, 3),
    Product("TRV-EU", "Travel flat rate, Europe", "420.00", "C62", 1, 2, 2),
)
