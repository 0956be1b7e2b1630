"""What the demonstration sells: subscriptions, devices, services; net prices in euros."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Product:
    """``unit`` is a code of UN/ECE Recommendation 20; quantities run from ``least`` to ``most``."""

    code: str
    description: str
    price: str
    unit: str
    least: int
    most: int
    weight: int


# Every month: (code, description, price of one unit)
SUBSCRIPTIONS = (
    Product("NL-START", "Nordlicht Start, per user and month", "12.00", "C62", 2, 15, 4),
    Product("NL-TEAM", "Nordlicht Team, per user and month", "24.50", "C62", 5, 60, 5),
    Product("NL-BUS", "Nordlicht Business, per user and month", "39.90", "C62", 20, 180, 3),
    Product("NL-API", "API package, 1 million requests", "89.00", "C62", 1, 3, 1),
)
GOODS = (
    Product("AUR-T2", "Aurora T2 time terminal", "649.00", "C62", 1, 12, 5),
    Product("AUR-P80", "Aurora P80 label printer", "389.00", "C62", 1, 10, 5),
    Product("AUR-S40", "Aurora S40 document scanner", "279.00", "C62", 1, 6, 4),
    Product("AUR-G1", "Aurora G1 gateway", "219.00", "C62", 1, 4, 4),
    Product("LBL-80", "Label roll 80 mm, box of 12", "46.80", "BX", 1, 40, 5),
    Product("CARD-100", "Access cards, pack of 100", "118.00", "PK", 1, 8, 3),
    Product("MNT-T2", "Wall mount for Aurora T2", "34.50", "C62", 1, 12, 3),
)
SERVICES = (
    Product("SRV-CON", "Consulting", "128.00", "HUR", 2, 40, 4),
    Product("SRV-INS", "Installation on site", "96.00", "HUR", 2, 16, 4),
    Product("SRV-TRN", "Training course, one day", "940.00", "DAY", 1, 4, 2),
    Product("SRV-MIG", "Data migration", "115.50", "HUR", 4, 32, 2),
    Product("SRV-TRV", "Travel costs", "0.42", "KMT", 20, 640, 2),
)
