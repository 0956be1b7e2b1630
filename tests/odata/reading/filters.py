"""Random filters of the right types, as text."""

from __future__ import annotations

from hypothesis import strategies as st

Text = st.SearchStrategy[str]

_TEXTS = ("alpha", "Alpha", "a", "", "50%", "_", "\\", "é", "ZÜRICH", "O'Neil", "acme", "beta",
          "日", "𝄞", "ss", "  ", "no")  # fmt: skip
_COMPARISON = st.sampled_from(["eq", "ne", "gt", "ge", "lt", "le"])


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _joined(*parts: Text | str) -> Text:
    """The parts with nothing between."""
    strategies = [st.just(part) if isinstance(part, str) else part for part in parts]
    return st.tuples(*strategies).map("".join)


def texts(depth: int, prefix: str = "") -> Text:
    """Expressions of type Edm.String."""
    paths = [f"{prefix}name", f"{prefix}note"]
    if not prefix:
        paths += ["Maker/name", "Maker/city", "Parent/note", "place/city", "Parent/Maker/city"]
    leaf = st.sampled_from(paths) | st.sampled_from(_TEXTS).map(_quoted)
    if not depth:
        return leaf
    inner = texts(depth - 1, prefix)
    number = st.integers(-3, 6).map(str)
    length = st.integers(0, 6).map(str)
    return st.one_of(
        leaf,
        _joined(st.sampled_from(["tolower(", "toupper(", "trim("]), inner, ")"),
        _joined("concat(", inner, ",", inner, ")"),
        _joined("substring(", inner, ",", number, ")"),
        _joined("substring(", inner, ",", number, ",", length, ")"),
    )


def integers(depth: int, prefix: str = "") -> Text:
    """Expressions whose value is a whole number; small, so that nothing overflows."""
    paths = [f"{prefix}id", f"{prefix}count", f"length({prefix}name)"]
    if not prefix:
        paths += ["Children/$count", "Maker/rank", "Children/$count($filter=active)"]
    leaf = st.sampled_from(paths) | st.integers(-20, 20).map(str)
    if not depth:
        return leaf
    inner = integers(depth - 1, prefix)
    return st.one_of(
        leaf,
        _joined(
            "(", inner, st.sampled_from([" add ", " sub ", " mul ", " div ", " mod "]), inner, ")"
        ),
        _joined("-(", inner, ")"),
        _joined("indexof(", texts(0, prefix), ",", texts(0, prefix), ")"),
        _joined(st.sampled_from(["year(", "month(", "day("]), _days(prefix), ")"),
        _joined(st.sampled_from(["hour(", "minute(", "second("]), _in_utc(prefix), ")"),
    )


def decimals(depth: int, prefix: str = "") -> Text:
    """Expressions whose value is a decimal."""
    literals = st.sampled_from(["0.0", "1.5", "-0.01", "100.005", "99.995", "0.00005", "7.25"])
    leaf = st.sampled_from([f"{prefix}price", f"{prefix}cost"]) | literals
    if not depth:
        return leaf
    inner = decimals(depth - 1, prefix)
    either = inner | integers(depth - 1, prefix)
    operators = st.sampled_from([" add ", " sub ", " mul ", " divby ", " div ", " mod "])
    return st.one_of(
        leaf,
        _joined("(", inner, operators, either, ")"),
        _joined("-(", inner, ")"),
        _joined(st.sampled_from(["round(", "floor(", "ceiling("]), inner, ")"),
    )


def _days(prefix: str) -> Text:
    return st.sampled_from(
        [f"{prefix}made", f"date({prefix}at)", f"date({prefix}seen)", "2024-02-29", "2000-01-01"]
    )


def _instants(prefix: str) -> Text:
    return _in_utc(prefix) | st.just("2024-01-01T01:00:00+01:00")


def _in_utc(prefix: str) -> Text:
    """Those whose parts are asked for: of a literal with an offset they are refused."""
    return st.sampled_from(
        [f"{prefix}at", f"{prefix}seen", "2024-01-01T00:00:00Z", "2024-02-29T12:34:56.7895Z",
         f"({prefix}at add duration'PT1H')", f"({prefix}seen sub duration'P1DT0.5S')"]
    )  # fmt: skip


def conditions(depth: int, prefix: str = "") -> Text:
    """Expressions of type Edm.Boolean."""
    inner = max(depth - 1, 0)
    numbers = st.one_of(
        integers(inner, prefix), decimals(inner, prefix), st.sampled_from([f"{prefix}size", "1e2"])
    )
    leaves = [
        _joined(numbers, " ", _COMPARISON, " ", numbers),
        _joined(texts(inner, prefix), " ", _COMPARISON, " ", texts(inner, prefix)),
        _joined(
            st.sampled_from(["contains(", "startswith(", "endswith("]),
            texts(inner, prefix), ",", texts(0, prefix), ")",
        ),
        _joined(_instants(prefix), " ", _COMPARISON, " ", _instants(prefix) | _days(prefix)),
        _joined(_days(prefix), " ", _COMPARISON, " ", _days(prefix)),
        _joined(f"{prefix}level ", _COMPARISON, " ", st.sampled_from(["'High'", "'Low'"])),
        _joined(
            st.sampled_from([f"{prefix}{one}" for one in ("note", "size", "cost", "seen", "made")]),
            st.sampled_from([" eq null", " ne null", " gt null"]),
        ),
        st.sampled_from([f"{prefix}active", f"{prefix}checked", f"{prefix}checked eq true",
                         f"{prefix}checked ne {prefix}active", "true", f"{prefix}checked eq null"]),
        _joined(f"{prefix}size in (", st.sampled_from(["1,7", "null,5", "0"]), ")"),
        _joined(f"{prefix}note in ('alpha',", st.sampled_from(["'no'", "null", "''"]), ")"),
        _joined(f"{prefix}price in (1.50,", st.sampled_from(["100.005", "100", "-0.01"]), ")"),
    ]  # fmt: skip
    if not prefix:
        leaves += [
            st.sampled_from(["Maker eq null", "Maker ne null", "Parent eq null", "Children/any()"]),
            _joined("Maker/rank ", _COMPARISON, " 3"),
        ]
    if not depth:
        return st.one_of(leaves)
    deeper = conditions(depth - 1, prefix)
    more = [
        _joined("(", deeper, " and ", deeper, ")"),
        _joined("(", deeper, " or ", deeper, ")"),
        _joined("not (", deeper, ")"),
        _joined("(", deeper, ") eq (", deeper, ")"),
        _joined("case(", deeper, ":", integers(0, prefix), ",true:0) gt 1"),
    ]
    if not prefix:
        more += [
            _joined("Children/any(c:", conditions(depth - 1, "c/"), ")"),
            _joined("Children/all(c:", conditions(depth - 1, "c/"), ")"),
            _joined("Children/$count($filter=", deeper, ") gt 0"),
            _joined("labels/any(l:l eq ", st.sampled_from(["'vip'", "'50%'", "name"]), ")"),
        ]
    return st.one_of(*leaves, *more)
