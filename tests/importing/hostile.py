"""Files that are small and hold much, made as they are needed."""

from __future__ import annotations

import itertools
import random
import zipfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PARTS = {
    "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_RELATIONS}">'
    '<sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/'
    '2006/relationships"><Relationship Id="r1" Type="x/worksheet" Target="worksheets/sheet1.xml"/>'
    '<Relationship Id="r2" Type="x/sharedStrings" Target="sharedStrings.xml"/>'
    '<Relationship Id="r3" Type="x/styles" Target="styles.xml"/></Relationships>',
}
HEAD = '<row r="1"><c r="A1" t="inlineStr"><is><t>name</t></is></c></row>'
ROW = '<row r="{0}"><c r="A{0}" t="inlineStr"><is><t>Acme</t></is></c></row>'


def workbook(path: Path, rows: Iterable[str], parts: Mapping[str, Iterable[str]] = {}) -> Path:
    """A workbook whose sheet has ``rows`` as they are; ``parts`` are others, or replace it."""
    sheet = itertools.chain((f'<worksheet xmlns="{_MAIN}"><sheetData>',), rows,
                            ("</sheetData></worksheet>",))  # fmt: skip
    written = {**{name: (text,) for name, text in _PARTS.items()},
               "xl/worksheets/sheet1.xml": sheet, **parts}  # fmt: skip
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, texts in written.items():
            with archive.open(name, "w") as part:
                for text in texts:
                    part.write(text.encode())
    return path


def _times(count: int, text: str, before: str = "", after: str = "") -> Iterable[str]:
    block = 10_000
    yield before
    for _ in range(count // block):
        yield text * block
    yield after


def _sheet(*texts: Iterable[str]) -> Mapping[str, Iterable[str]]:
    return {"xl/worksheets/sheet1.xml": itertools.chain(*texts)}


def _shared(*texts: Iterable[str]) -> Mapping[str, Iterable[str]]:
    return {"xl/sharedStrings.xml": itertools.chain(*texts)}


def _text(path: Path, texts: Iterable[str]) -> Path:
    with path.open("w") as file:
        file.writelines(texts)
    return path


def _many_parts(path: Path) -> Path:
    with zipfile.ZipFile(workbook(path, (HEAD,)), "a") as archive:
        for number in range(30_000):
            archive.writestr(f"xl/media/{number:036}", b"")
    return path


# What is refused, whoever reads it: (name, how it is made).
ENDLESS: Mapping[str, Callable[[Path], Path]] = {
    "one row a million times": lambda path: workbook(
        path, itertools.chain((HEAD,), _times(1_000_000, ROW.format(2)))
    ),
    "rows backwards": lambda path: workbook(path, (HEAD, ROW.format(9), ROW.format(8))),
    "a row behind the last": lambda path: workbook(path, (HEAD, ROW.format(1_048_577))),
    "a cell a million times": lambda path: workbook(
        path, _times(1_000_000, '<c r="A1"><v>1</v></c>', '<row r="1">', "</row>")
    ),
    "a column behind the last": lambda path: workbook(
        path, ('<row r="1"><c r="XFE1"><v>1</v></c></row>',)
    ),
    "elements within each other": lambda path: workbook(path, _times(1_000_000, "<a>")),
    "an endless attribute": lambda path: workbook(
        path, _times(30_000_000, "a", '<row r="1" x="', '"></row>')
    ),
    "an endless cell": lambda path: workbook(
        path, _times(30_000_000, "a", '<row r="1"><c t="str"><v>', "</v></c></row>")
    ),
    "an endless comment": lambda path: workbook(path, _times(30_000_000, "a", "<!--", "-->")),
    "entities": lambda path: workbook(
        path, (), _sheet(('<!DOCTYPE a [<!ENTITY b "b">]><worksheet/>',))
    ),
    "many parts": _many_parts,
    "one line": lambda path: _text(path, _times(50_000_000, ",", "name")),
    "one cell": lambda path: _text(path, _times(50_000_000, "a", 'name\n"', '"\n')),
    "one row of many lines": lambda path: _text(path, _times(1_000_000, '"\n",', "name\n")),
}
# What is too much for a request; the worker may read it or refuse it.
MUCH: Mapping[str, Callable[[Path], Path]] = {
    "blanks between rows": lambda path: workbook(
        path, itertools.chain((HEAD,), _times(100_000_000, " "))
    ),
    "rows without cells": lambda path: workbook(
        path, itertools.chain((HEAD,), (f'<row r="{at}"/>' for at in range(2, 200_000)))
    ),
    "cells without values": lambda path: workbook(
        path,
        (f'<row r="{at}">' + "<c/>" * 16_000 + "</row>" for at in range(1, 30)),
    ),
    "many shared texts": lambda path: workbook(
        path, (HEAD,), _shared(_times(500_000, "<si><t>ab</t></si>", "<sst>", "</sst>"))
    ),
    "long shared texts": lambda path: workbook(
        path, (HEAD,), _shared(_times(20_000_000, "a", "<sst><si><t>", "</t></si></sst>"))
    ),
}
# What looks like much and is read at once.
HARMLESS: Mapping[str, Callable[[Path], Path]] = {
    "many merged cells": lambda path: workbook(
        path, (), _sheet((f'<worksheet xmlns="{_MAIN}"><sheetData>', HEAD, ROW.format(2),
                          "</sheetData>"),
                         _times(500_000, '<mergeCell ref="A1:B2"/>', "<mergeCells>",
                                "</mergeCells></worksheet>"))
    ),
    "the last row": lambda path: workbook(path, (HEAD, ROW.format(1_048_576))),
    "a claim of a whole sheet": lambda path: workbook(
        path, (), _sheet((f'<worksheet xmlns="{_MAIN}"><dimension ref="A1:XFD1048576"/><sheetData>',
                          HEAD, ROW.format(2), "</sheetData></worksheet>"))
    ),
}  # fmt: skip
ENCODINGS = (
    "x-unknown", "utf-7", "utf-16", "utf-32", "idna", "rot13", "base64", "cp037", "shift_jis",
    "gb18030", "ascii", "latin-1", "undefined", "-", "a" * 300,
)  # fmt: skip
# Cells as a sheet has them -> whether there is a text in them.
CELLS: Mapping[str, bool] = {
    "_xD800_": False, "_xDC00_": False, "_xD83D__xDE00_": True, "_xDE00__xD83D_": False,
    "a_xDBFF_b": False, "_x0000_": False, "_x0001_": True, "_xFFFE_": True, "_xFFFF_": True,
    "_x005F_xD800_": True, "_xD80_": True, "&#xD800;": False, "&#0;": False, "&#x1F600;": True,
    "&unknown;": False, "<t>": False, "\x01": False, "]]>": False,
}  # fmt: skip
_PLACES = (
    "xl/workbook.xml", "xl/_rels/workbook.xml.rels", "xl/worksheets/sheet1.xml",
    "xl/sharedStrings.xml", "xl/styles.xml",
)  # fmt: skip
# What a part may be instead of itself.
_INSTEAD: Mapping[str, str] = {
    "nothing": "",
    "no XML": "hello",
    "half": "<a><b",
    "another root": "<a/>",
    "a NUL": "<a>\0</a>",
    "two roots": "<a/><b/>",
    "a byte order mark alone": "\ufeff",
    "a namespace unbound": "<x:a/>",
    "an attribute twice": '<a b="1" b="2"/>',
}


def with_encoding(path: Path, part: str, encoding: str) -> Path:
    """A workbook of which a part says that it is written in this encoding."""
    original = {**_PARTS, **_EMPTY}[part]
    text = f'<?xml version="1.0" encoding="{encoding}"?>{original}'
    return workbook(path, (HEAD, ROW.format(2)), {part: (text,)})


def with_cell(path: Path, content: str, *, is_shared: bool) -> Path:
    """A workbook with a text in a cell, as it stands in the XML."""
    if not is_shared:
        cell = f'<row r="2"><c r="A2" t="inlineStr"><is><t>{content}</t></is></c></row>'
        return workbook(path, (HEAD, cell))
    shared = {"xl/sharedStrings.xml": (f"<sst><si><t>{content}</t></si></sst>",)}
    return workbook(path, (HEAD, '<row r="2"><c r="A2" t="s"><v>0</v></c></row>'), shared)


def broken(folder: Path) -> Iterable[tuple[str, Path]]:
    """Workbooks of which a part is missing, is another thing or the target of itself."""
    for at, part in enumerate(_PLACES):
        for name, text in _INSTEAD.items():
            path = folder / f"{at}-{name}"
            yield f"{part}: {name}", workbook(path, (HEAD, ROW.format(2)), {part: (text,)})
        path = folder / f"{at}-gone"
        yield f"{part}: gone", _without(workbook(path, (HEAD, ROW.format(2))), part)
        links = _PARTS[_PLACES[1]].replace("worksheets/sheet1.xml", f"../{part}")
        circular = links.replace("sharedStrings.xml", "worksheets/sheet1.xml")
        path = folder / f"{at}-circle"
        yield f"{part}: a circle", workbook(path, (HEAD, ROW.format(2)), {_PLACES[1]: (circular,)})


def damaged(folder: Path, count: int, dice: random.Random) -> Iterable[Path]:
    """A workbook with some of its bytes changed, taken out or doubled."""
    whole = with_cell(folder / "whole", "Acme", is_shared=True).read_bytes()
    for number in range(count):
        content = bytearray(whole)
        for _ in range(dice.choice((1, 1, 2, 8))):
            at = dice.randrange(len(content))
            content[at : at + dice.randrange(3)] = dice.randbytes(dice.randrange(3))
        path = folder / f"damaged-{number}"
        path.write_bytes(content)
        yield path


_EMPTY = {
    "xl/sharedStrings.xml": "<sst/>",
    "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{_MAIN}"><sheetData>{HEAD}</sheetData>'
    "</worksheet>",
    "xl/styles.xml": "<styleSheet/>",
}


def _without(path: Path, part: str) -> Path:
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist() if name != part}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path
