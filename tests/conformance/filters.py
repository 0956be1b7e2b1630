"""Intermediate level: what conditions find."""

from __future__ import annotations

from tests.conformance.registry import requirement
from tests.conformance.service import Service

ALL = ["Acme", "Delta_x", "O'Neil 50%", "Zürich 日本"]


def finds(s: Service, *cases: tuple[str, list[str]]) -> None:
    for text, names in cases:
        found = s.found(text)
        assert found == names, f"{text}: {found}"


def refuses(s: Service, *texts: str) -> None:
    for text in texts:
        s.refused(f"Clients?$filter={text}", 400, 501)


@requirement("INT-12", "MUST", "eq and ne compare texts and numbers; two quotes are one.")
def _(s: Service) -> None:
    finds(s, ("name eq 'O''Neil 50%25'", ["O'Neil 50%"]), ("revenue ne 100", ALL[1:]))


@requirement("INT-13", "SHOULD", "gt, ge, lt, le on numbers of every form, and on texts.")
def _(s: Service) -> None:
    finds(
        s,
        ("revenue gt 700", ["Delta_x"]),
        ("revenue ge 7e2", ["Delta_x", "O'Neil 50%"]),
        ("revenue lt 7.6", ["Zürich 日本"]),
        ("revenue gt -1", ALL),
        ("name le 'Acme'", ["Acme"]),
    )


@requirement("INT-14", "SHOULD", "not binds before comparison, and before or.")
def _(s: Service) -> None:
    finds(
        s,
        ("name eq 'Acme' or name eq 'Delta_x' and revenue lt 1", ["Acme"]),
        ("(name eq 'Acme' or name eq 'Delta_x') and revenue lt 1", []),
        ("not (revenue gt 50) or name eq 'Acme'", ["Acme", "Zürich 日本"]),
    )


@requirement("INT-15", "MUST", "null equals null alone, and differs from all else.")
def _(s: Service) -> None:
    finds(s, ("email eq null", ALL[1:]), ("email ne null", ["Acme"]), ("email ne 'x'", ALL))


@requirement("INT-16", "MUST", "Less and greater with null are false, so their negation is true.")
def _(s: Service) -> None:
    finds(
        s,
        ("not (employeeCount gt 4)", ["Delta_x", "O'Neil 50%"]),
        ("not (null gt 5)", ALL),
        ("employeeCount lt 4 or employeeCount ge 4", ["Acme", "O'Neil 50%", "Zürich 日本"]),
    )


@requirement("INT-17", "MUST", "in takes lists of texts and numbers, and can be negated.")
def _(s: Service) -> None:
    finds(
        s,
        ("name in ('Acme','Delta_x')", ALL[:2]),
        ("revenue in (100)", ["Acme"]),
        ("not (name in ('Acme'))", ALL[1:]),
    )


@requirement("INT-18", "MUST", "A navigation to one entity compares with null.")
def _(s: Service) -> None:
    assert s.names("$filter=Client eq null", "Contacts") == ["Zoe"]
    assert len(s.names("$filter=Client ne null", "Contacts")) == 4


@requirement("INT-19", "MUST", "Aliases stand for values; one without a value for null.")
def _(s: Service) -> None:
    assert s.names("$filter=name eq @n or name eq @n&@n='Acme'") == ["Acme"]
    assert s.names("$filter=email eq @nothing&$orderby=id") == ALL[1:]


@requirement("INT-20", "SHOULD", "Conditions follow a navigation to one entity.")
def _(s: Service) -> None:
    found = s.names("$filter=Client/name eq 'Acme' and Client/revenue gt 5&$orderby=id", "Contacts")
    assert found == ["Ana", "Bo", "Cleo"]


@requirement("INT-21", "MUST", "Unknown functions, no condition, wrong arity are refused.")
def _(s: Service) -> None:
    refuses(s, "magic(name) eq 1", "name", "5 add 1", "length(name,name) eq 1", "contains(name)")


@requirement("INT-22", "SHOULD", "What is of the wrong type is refused.")
def _(s: Service) -> None:
    refuses(s, "contains(revenue,'1')", "name gt 5", "status add 1 eq 2", "year(name) eq 1")


@requirement("INT-23", "SPEC", "contains finds texts; the empty text is in every text.")
def _(s: Service) -> None:
    finds(
        s,
        ("contains(name,'elt') and revenue gt 5", ["Delta_x"]),
        ("contains(name,'')", ALL),
        ("contains(email,'')", ["Acme"]),
    )


@requirement("INT-24", "SHOULD", "startswith and endswith, nested and with an apostrophe.")
def _(s: Service) -> None:
    finds(
        s, ("startswith(name,'O''N')", ["O'Neil 50%"]), ("endswith(tolower(name),'x')", ["Delta_x"])
    )


@requirement("INT-25", "MUST", "Wildcards of SQL are plain characters.")
def _(s: Service) -> None:
    finds(
        s,
        ("contains(name,'_')", ["Delta_x"]),
        ("contains(name,'%25')", ["O'Neil 50%"]),
        ("startswith(name,'%25')", []),
        ("contains(name,'\\')", []),
    )


@requirement("INT-26", "MUST", "Texts compare and match with their case.")
def _(s: Service) -> None:
    finds(
        s,
        ("name eq 'acme'", []),
        ("contains(name,'acme')", []),
        ("startswith(name,'a')", []),
        ("name in ('ACME')", []),
    )


@requirement("INT-27", "SHOULD", "length, indexof, substring.")
def _(s: Service) -> None:
    finds(
        s,
        ("length(name) eq 4", ["Acme"]),
        ("indexof(name,'cme') eq 1", ["Acme"]),
        ("indexof(name,'x') eq -1", ["Acme", "O'Neil 50%", "Zürich 日本"]),
        ("substring(name,1) eq 'cme'", ["Acme"]),
        ("substring(name,1,2) eq 'cm'", ["Acme"]),
    )


@requirement("INT-28", "SHOULD", "tolower, toupper, trim, concat.")
def _(s: Service) -> None:
    finds(
        s,
        ("tolower(name) eq 'acme'", ["Acme"]),
        ("toupper(name) eq 'ZÜRICH 日本'", ALL[3:]),
        ("trim(' Acme ') eq name", ["Acme"]),
        ("concat(name,'!') eq 'Acme!'", ["Acme"]),
    )


@requirement("INT-29", "SHOULD", "matchesPattern takes patterns of ECMAScript.")
def _(s: Service) -> None:
    finds(s, ("matchesPattern(name,'^Delta.x$')", ["Delta_x"]))


@requirement("INT-30", "SHOULD", "Accents and other scripts are found.")
def _(s: Service) -> None:
    finds(
        s,
        ("contains(name,'日本')", ALL[3:]),
        ("startswith(name,'Zü')", ALL[3:]),
        ("name eq 'Zürich 日本'", ALL[3:]),
    )


@requirement("INT-31", "SHOULD", "Arithmetic: div of whole numbers truncates, mul before add.")
def _(s: Service) -> None:
    finds(
        s,
        ("5 div 2 eq 2", ALL),
        ("1 add 2 mul 3 eq 7", ALL),
        ("5 mod 3 eq 2", ALL),
        ("revenue sub 50 eq 50", ["Acme"]),
        ("-revenue eq -100", ["Acme"]),
    )


@requirement("INT-32", "SHOULD", "round half away from zero, floor, ceiling.")
def _(s: Service) -> None:
    finds(
        s,
        ("round(revenue) eq 8", ALL[3:]),
        ("floor(revenue) eq 7", ALL[3:]),
        ("ceiling(revenue) eq 6001", ["Delta_x"]),
        ("round(-2.5) eq -3", ALL),
    )


@requirement("INT-33", "SHOULD", "Division by zero and huge numbers are no 5xx but 501.")
def _(s: Service) -> None:
    for text in ("revenue div 0 eq 1", "1 div 0 eq 1", "9e999 gt 1", f"{'9' * 60} gt revenue"):
        assert s.fetch(f"Clients?$filter={text}").status in (200, 400, 501), text


@requirement("INT-34", "SPEC", "Instants compare with a date.")
def _(s: Service) -> None:
    finds(
        s,
        ("createdAt gt 2024-01-01", ALL),
        ("createdAt lt 2024-01-01", []),
        ("date(createdAt) ge 2024-01-01", ALL),
    )


@requirement("INT-35", "SHOULD", "Instants in every form; one that is none is refused.")
def _(s: Service) -> None:
    for text in (
        "2024-01-01T00:00:00Z",
        "2024-01-01T00:00:00%2B02:00",
        "2024-01-01T00:00:00.123Z",
        "2024-01-01T00:00Z",
    ):
        finds(s, (f"createdAt gt {text}", ALL))
    refuses(s, "createdAt gt 2024-13-01T00:00:00Z", "createdAt gt 2024-02-30")


@requirement("INT-36", "SHOULD", "year, month, day, hour, minute, second.")
def _(s: Service) -> None:
    when = s.get(s.client())["createdAt"]
    parts = {
        "year": when[:4],
        "month": when[5:7],
        "day": when[8:10],
        "hour": when[11:13],
        "minute": when[14:16],
        "second": when[17:19],
    }
    for name, text in parts.items():
        finds(s, (f"{name}(createdAt) eq {int(text)} and name eq 'Acme'", ["Acme"]))


@requirement("INT-37", "SHOULD", "date, time, fractionalseconds, totaloffsetminutes.")
def _(s: Service) -> None:
    when = s.get(s.client())["createdAt"]
    finds(
        s,
        (f"date(createdAt) eq {when[:10]} and name eq 'Acme'", ["Acme"]),
        (f"time(createdAt) eq {when[11:23]} and name eq 'Acme'", ["Acme"]),
        (f"fractionalseconds(createdAt) eq 0{when[19:23]} and name eq 'Acme'", ["Acme"]),
        ("totaloffsetminutes(createdAt) eq 0", ALL),
    )


@requirement(
    "INT-38", "SHOULD", "now, mindatetime, maxdatetime, totalseconds, arithmetic of dates."
)
def _(s: Service) -> None:
    finds(
        s,
        ("createdAt add duration'P1D' gt now()", ALL),
        ("createdAt lt maxdatetime()", ALL),
        ("createdAt gt mindatetime()", ALL),
        ("totalseconds(now() sub createdAt) ge 0", ALL),
    )


@requirement("INT-39", "SHOULD", "cast and isof.")
def _(s: Service) -> None:
    finds(
        s,
        ("cast(employeeCount,Edm.String) eq '10'", ["Acme"]),
        ("cast('3',Edm.Int32) eq employeeCount", ["O'Neil 50%"]),
        ("isof(name,Edm.String)", ALL),
    )


@requirement("INT-40", "SHOULD", "has tells whether a member is there.")
def _(s: Service) -> None:
    rows = s.get("Tasks?$filter=priority has BusinessPlatform.Priority'High'")["value"]
    assert "Top" in [row["title"] for row in rows]


@requirement("INT-41", "SHOULD", "case chooses by conditions.")
def _(s: Service) -> None:
    finds(s, ("case(revenue gt 5000:'big',true:'small') eq 'big'", ["Delta_x"]))


@requirement("INT-42", "SHOULD", "Boolean literals and expressions are operands.")
def _(s: Service) -> None:
    finds(
        s,
        ("true", ALL),
        ("contains(name,'cme') eq true", ["Acme"]),
        ("(revenue gt 500) eq false", ["Acme", "Zürich 日本"]),
    )


@requirement("INT-43", "SHOULD", "Blanks where the grammar has them; quotes may be encoded.")
def _(s: Service) -> None:
    finds(
        s,
        ("name  eq  'Acme'", ["Acme"]),
        ("name%09eq%09'Acme'", ["Acme"]),
        ("name in ( 'Acme' , 'x' )", ["Acme"]),
        ("name eq %27Acme%27", ["Acme"]),
    )


@requirement("INT-44", "SHOULD", "Long and deep conditions are answered, never with a 5xx but 501.")
def _(s: Service) -> None:
    chain = " or ".join(f"revenue eq {number}" for number in range(60))
    assert s.fetch(f"Clients?$filter={chain}").status == 200
    for text in ("(" * 300 + "true" + ")" * 300, f"name eq '{'x' * 6000}'"):
        assert s.fetch(f"Clients?$filter={text}").status in (200, 400, 414, 431, 501)
