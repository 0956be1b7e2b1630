"""Cities with their postal codes, and streets, of the countries the demonstration sells to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Country:
    """A market: ``weight`` is its share of clients, ``calling`` its telephone prefix."""

    code: str
    language: str
    currency: str
    calling: str
    weight: int
    cities: tuple[tuple[str, str], ...]  # (city, postal code)
    streets: tuple[str, ...]
    legal_forms: tuple[str, ...]


COUNTRIES = (
    Country(
        "DE", "de", "EUR", "+49 40", 44,
        (
            ("Hamburg", "20457"), ("Berlin", "10115"), ("München", "80331"), ("Köln", "50667"),
            ("Leipzig", "04109"), ("Bremen", "28195"), ("Hannover", "30159"), ("Kiel", "24103"),
            ("Stuttgart", "70173"), ("Nürnberg", "90402"), ("Rostock", "18055"),
            ("Dortmund", "44135"),
        ),
        (
            "Hafenstraße", "Bahnhofstraße", "Lindenallee", "Industriestraße", "Am Speicher",
            "Gartenweg", "Schillerstraße", "Werftstraße", "Marktplatz", "Ringstraße",
        ),
        ("GmbH", "GmbH & Co. KG", "AG", "KG", "e. K."),
    ),
    Country(
        "AT", "de", "EUR", "+43 1", 10,
        (("Wien", "1010"), ("Graz", "8010"), ("Linz", "4020"), ("Salzburg", "5020"),
         ("Innsbruck", "6020")),
        ("Hauptstraße", "Mariahilfer Straße", "Donaulände", "Kirchengasse", "Sonnweg"),
        ("GmbH", "AG", "KG"),
    ),
    Country(
        "CH", "de", "CHF", "+41 44", 9,
        (("Zürich", "8001"), ("Basel", "4051"), ("Bern", "3011"), ("Luzern", "6003")),
        ("Seestrasse", "Bahnhofplatz", "Rheingasse", "Industriestrasse"),
        ("AG", "GmbH"),
    ),
    Country(
        "FR", "fr", "EUR", "+33 1", 12,
        (("Paris", "75011"), ("Lyon", "69002"), ("Nantes", "44000"), ("Lille", "59000"),
         ("Strasbourg", "67000")),
        ("rue de la République", "avenue Victor Hugo", "quai de la Fosse", "rue des Tanneurs"),
        ("SARL", "SAS", "SA"),
    ),
    Country(
        "NL", "nl", "EUR", "+31 20", 8,
        (("Amsterdam", "1012 JS"), ("Rotterdam", "3011 AD"), ("Utrecht", "3511 LX"),
         ("Groningen", "9711 LM")),
        ("Keizersgracht", "Stationsweg", "Havenstraat", "Molenlaan"),
        ("B.V.", "N.V."),
    ),
    Country(
        "GB", "en", "GBP", "+44 20", 9,
        (("London", "EC2A 4NE"), ("Bristol", "BS1 4DJ"), ("Leeds", "LS1 4AP"),
         ("Edinburgh", "EH1 1YZ")),
        ("High Street", "Victoria Road", "Mill Lane", "Queen Square", "Dock Street"),
        ("Ltd", "LLP", "plc"),
    ),
    Country(
        "DK", "da", "EUR", "+45 33", 4,
        (("København", "1050"), ("Aarhus", "8000"), ("Odense", "5000")),
        ("Strandgade", "Nørregade", "Havnevej"),
        ("ApS", "A/S"),
    ),
    Country(
        "PL", "pl", "EUR", "+48 22", 4,
        (("Warszawa", "00-001"), ("Kraków", "31-001"), ("Gdańsk", "80-001")),
        ("ulica Długa", "ulica Lipowa", "aleja Solidarności"),
        ("sp. z o.o.", "S.A."),
    ),
)  # fmt: skip
HOME = "DE"
EUROPEAN_UNION = frozenset(("DE", "AT", "FR", "NL", "DK", "PL"))
