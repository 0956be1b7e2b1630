"""Media types: what files are found to be, and what is refused."""

from __future__ import annotations

import io
import struct
import zipfile

import pytest
from PIL import Image

from app.documents.media_types import (
    KINDS,
    UNKNOWN,
    clean_file_name,
    extension_of,
    kind_of_file,
    media_type_of,
    suspicion,
)
from app.errors import UnsupportedMediaTypeError, ValidationError
from app.localisation.catalogue import msgids

OFFICE = "application/vnd.openxmlformats-officedocument."


def archive(*names: str, comment: bytes = b"", first: str | None = None) -> bytes:
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as packed:
        if first is not None:
            packed.writestr(zipfile.ZipInfo("mimetype"), first)
        for name in names:
            packed.writestr(name, "<x/>")
        packed.comment = comment
    return memory.getvalue()


def picture(kind: str) -> bytes:
    memory = io.BytesIO()
    Image.new("RGB", (8, 8), "red").save(memory, kind)
    return memory.getvalue()


WORD = archive("[Content_Types].xml", "_rels/.rels", "word/document.xml")
EXCEL = archive("[Content_Types].xml", "xl/workbook.xml")
OPEN_TEXT = archive("content.xml", first="application/vnd.oasis.opendocument.text")
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(22) + struct.pack("<H", 9) + bytes(16)
OLD_WORD = OLE + struct.pack("<I", 0) + bytes(460 + 512)
INSTALLER = bytearray(OLD_WORD)
INSTALLER[512 + 80 : 512 + 96] = bytes.fromhex("84100c0000000000c000000000000046")

FOUND = [
    (b"%PDF-1.7\n", "a.pdf", "application/pdf"),
    (b"%PDF-1.7\n", "a", "application/pdf"),
    (picture("PNG"), "a.png", "image/png"),
    (picture("JPEG"), "a.jpeg", "image/jpeg"),
    (picture("GIF"), "a.gif", "image/gif"),
    (picture("TIFF"), "a.tif", "image/tiff"),
    (picture("BMP"), "a.bmp", "image/bmp"),
    (picture("WEBP"), "a.webp", "image/webp"),
    (WORD, "a.docx", OFFICE + "wordprocessingml.document"),
    (WORD, "a.zip", OFFICE + "wordprocessingml.document"),
    (EXCEL, "a.xlsx", OFFICE + "spreadsheetml.sheet"),
    (EXCEL, "a.xlsm", "application/vnd.ms-excel.sheet.macroenabled.12"),
    (OPEN_TEXT, "a.odt", "application/vnd.oasis.opendocument.text"),
    (archive("a.txt"), "a.zip", "application/zip"),
    (OLD_WORD, "a.doc", "application/msword"),
    (OLD_WORD, "a.xls", "application/vnd.ms-excel"),
    (b"{\\rtf1 hi}", "a.rtf", "application/rtf"),
    (b"hello\n", "a.txt", "text/plain"),
    (b"hello\n", "notes", "text/plain"),
    (b"a;b\n1;2\n", "a.csv", "text/csv"),
    (b"# Title\n", "a.md", "text/markdown"),
    (b'{"a": 1}', "a.json", "application/json"),
    (b"<?xml version='1.0'?><a/>", "a.xml", "application/xml"),
    (b"<!DOCTYPE html><html>", "a.html", "text/html"),
    (b"  <script>alert(1)</script>", "a.txt", "text/html"),
    (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "a.svg", "image/svg+xml"),
    (b"<?xml version='1.0'?><svg onload='x'/>", "a.xml", "image/svg+xml"),
    (b"hello", "a.html", "text/plain"),
    ("Größe".encode("utf-16"), "a.txt", "text/plain"),
    ("Gr\u00f6\u00dfe 10 \u20ac\n".encode("cp1252"), "a.txt", "text/plain"),
    (b"MZ is a code of an area.\n", "a.txt", "text/plain"),
    (bytes(range(256)) * 4, "a.bin", "application/octet-stream"),
    (b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom", "a.mp4", "video/mp4"),
    (b"<note>", "a.txt", "text/plain"),
    (archive("a.txt", first="text/plain"), "a.zip", "application/zip"),
    (archive("[Content_Types].xml", "Documents/1/Pages/1.fpage"), "a.zip", "application/zip"),
    ("\ufeffGr\u00f6\u00dfe \U0001f4b6".encode("utf-16-le")[:-2], "a.txt", "text/plain"),
    (b"\xff\xfe\x3d\xd8a\0", "a.bin", "application/octet-stream"),
]  # fmt: skip


@pytest.mark.parametrize(("head", "name", "media_type"), FOUND, ids=range(len(FOUND)))
def test_the_content_decides(head: bytes, name: str, media_type: str) -> None:
    assert media_type_of(head, name) == media_type


@pytest.mark.requirement("SEC-71")
@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b"MZ\x90\0\x03\0\0\0\x04\0\0\0\xff\xff", "offer.pdf"),
        (b"MZ\x90\0\x03\0\0\0\x04\0\0\0\xff\xff", "a.txt"),
        (b"\x7fELF\x02\x01\x01\0", "a"),
        (b"\xcf\xfa\xed\xfe\x07\0\0\x01", "a"),
        (b"\xca\xfe\xba\xbe\0\0\0\x34", "a.dat"),
        (b"\0asm\x01\0\0\0", "a.dat"),
        (b"#!/bin/sh\nrm -rf /\n", "readme.txt"),
        (b"\xef\xbb\xbf#!/usr/bin/env python3\n", "readme.txt"),
        (b"<?php system($_GET[0]);", "photo.jpg"),
        (b"@echo off\r\ndel *\r\n", "notes.txt"),
        (bytes(INSTALLER), "letter.doc"),
        (b"hello", "run.exe"), (b"hello", "run.EXE"), (b"hello", "run.bat"), (b"hello", "x.ps1"),
        (b"hello", "a.js"), (b"hello", "a.txt.vbs"), (archive("a.class"), "a.jar"),
        (b"Deny from all", ".htaccess"), (b"hello", ".EXE"),
    ],
    ids=range(20),
)  # fmt: skip
def test_programs_and_scripts_are_refused(head: bytes, name: str) -> None:
    with pytest.raises(UnsupportedMediaTypeError, match="Programs and scripts") as refused:
        media_type_of(head, name)
    assert refused.value.details[0].field == "file"


@pytest.mark.requirement("SEC-71")
@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b"hello", "a.pdf"), (picture("PNG"), "a.pdf"), (picture("PNG"), "a.jpg"),
        (b"<html>", "a.png"), (b"%PDF-1.7", "a.png"), (picture("GIF"), "a.txt"),
        (b"%PDF-1.7", "a.csv"), (EXCEL, "a.docx"), (archive("a.txt"), "a.docx"),
        (OLD_WORD, "a.pdf"), (b"hello", "a.zip"), (bytes(range(256)), "a.txt"),
    ],
    ids=range(12),
)  # fmt: skip
def test_a_name_that_promises_something_else_is_refused(head: bytes, name: str) -> None:
    with pytest.raises(UnsupportedMediaTypeError, match="The name says"):
        media_type_of(head, name)


@pytest.mark.parametrize(
    ("content", "media_type", "is_suspicious"),
    [
        (picture("PNG"), "image/png", False),
        (picture("GIF") + archive("a.class"), "image/gif", True),
        (b"%PDF-1.7\n" + archive("a.class", comment=b"x" * 300), "application/pdf", True),
        (b"%PDF-1.7\n" + archive("a.xml") + b"\n%%EOF\n", "application/pdf", False),
        (archive("a.txt"), "application/zip", False),
        (picture("GIF") + b"%PDF-1.4", "image/gif", True),
        (picture("GIF") + b"<script>alert(1)</script>", "image/gif", True),
        (b"PK\x05\x06", "image/gif", False),
        (archive("[Content_Types].xml", "word/vbaProject.bin"),
         OFFICE + "wordprocessingml.document", True),
        (archive("[Content_Types].xml", "word/vbaProject.bin"),
         "application/vnd.ms-word.document.macroenabled.12", False),
    ],
    ids=range(10),
)  # fmt: skip
def test_what_is_two_things_at_once_is_suspicious(
    content: bytes, media_type: str, is_suspicious: bool
) -> None:
    assert (suspicion(media_type, content[:65_536], content[-65_536:]) is not None) == is_suspicious


def test_every_type_that_is_told_has_words_in_german() -> None:
    for media_type in (*KINDS, "image/png", "audio/mpeg", "video/mp4", "text/x", UNKNOWN):
        kind = kind_of_file(media_type)
        assert "/" not in kind
        assert (None, kind) in msgids("de"), media_type


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("offer.pdf", "offer.pdf"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\ann\\offer.txt", "offer.txt"),
        ("photo\u202egpj.exe", "photogpj.exe"),
        ("Ve\u0301lo.txt", "V\u00e9lo.txt"),
        (".htaccess", ".htaccess"),
        ("a. . .", "a"),
        ("\U0001f469\u200d\U0001f4bb.txt", "\U0001f469\u200d\U0001f4bb.txt"),
        ("x" * 251 + ".txt", "x" * 251 + ".txt"),
    ],
)
def test_what_is_kept(name: str, kept: str) -> None:
    assert clean_file_name(name) == kept


@pytest.mark.parametrize(
    "name", [None, "", " ", ".", "..", "a/", "a\0", "a\r\nb", "\ud800.txt", "x" * 256]
)
def test_what_is_refused(name: str | None) -> None:
    with pytest.raises(ValidationError) as refused:
        clean_file_name(name)
    assert refused.value.details[0].field == "file"


def test_extensions() -> None:
    names = ("a.PDF", "a.tar.gz", "a", ".env", "a.")
    assert [extension_of(name) for name in names] == ["pdf", "gz", "", "", ""]
