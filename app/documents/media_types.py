"""Names of files, cleaned, and media types, decided by the content; what is refused.

Names lie and browsers guess. The first bytes say which family a file is of; the name only chooses
within it (a .csv is text), and a name that promises another family is refused.
"""

from __future__ import annotations

import codecs
import re
import struct
import unicodedata
from collections.abc import Mapping

import puremagic

from app.errors import UnsupportedMediaTypeError, ValidationError
from app.localisation.catalogue import marked

MAXIMUM_LENGTH = 255
# What turns the direction of writing: "photo\u202egpj.exe" reads as photoexe.jpg.
_DIRECTIONS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_PATH = re.compile(r".*[/\\]", re.DOTALL)


def clean_file_name(name: str | None) -> str:
    """The name of a file as it is kept: its last segment, composed, with no turns of direction.

    Raises: ValidationError, on ``file``: it has none, control characters, or too many.
    """
    text = _DIRECTIONS.sub("", unicodedata.normalize("NFC", name or ""))
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in text):
        raise ValidationError([("file", "must be a file name without control characters")])
    text = _PATH.sub("", text).strip().rstrip(". ")
    if not text:
        raise ValidationError([("file", "must be a file with a name")])
    if len(text) > MAXIMUM_LENGTH:
        raise ValidationError([("file", f"must have at most {MAXIMUM_LENGTH} characters")])
    return text


def extension_of(name: str) -> str:
    """``Offer.PDF`` -> ``pdf``; empty without one."""
    stem, dot, extension = name.rpartition(".")
    return extension.lower() if dot and stem else ""


# An archive's end stands in its last 64 KB, behind which its comment reaches to the last byte.
TAIL_BYTES = 66 * 1024
_END_OF_ARCHIVE = b"PK\x05\x06"
_END_BYTES = 22
_ACTIVE = re.compile(rb"<(script|\?php|html)[\s>]", re.IGNORECASE)
# So much of the beginning decides.
HEAD_BYTES = 64 * 1024
UNKNOWN = "application/octet-stream"
_OFFICE = "application/vnd.openxmlformats-officedocument."
_OPEN = "application/vnd.oasis.opendocument."
_OLE = "application/x-ole-storage"
ZIP = "application/zip"
PDF = "application/pdf"

# Programs and scripts, by name: what a double click runs.
_PROGRAM_NAMES = frozenset((
    "apk", "app", "appimage", "application", "bash", "bat", "cgi", "cmd", "com", "command",
    "cpl", "csh", "deb", "dll", "dmg", "elf", "exe", "gadget", "hta", "htaccess", "inf",
    "jar", "js", "jse", "jsp", "asp", "aspx", "ksh", "lnk", "mjs", "msi", "msp", "mst", "pif",
    "php", "php3", "php5", "phtml", "pl", "ps1", "psm1", "py", "pyc", "rb", "reg", "rpm",
    "run", "scf", "scr", "sh", "so", "sys", "vb", "vbe", "vbs", "wasm", "war", "ws", "wsc",
    "wsf", "wsh", "xpi", "zsh",
))  # fmt: skip
_PROGRAM_HEADS = (
    b"MZ", b"\x7fELF", b"\xfe\xed\xfa\xce", b"\xfe\xed\xfa\xcf", b"\xce\xfa\xed\xfe",
    b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"\0asm", b"dex\n", b"L\0\0\0\x01\x14\x02\0",
    b"!<arch>\ndebian", b"\xed\xab\xee\xdb",
)  # fmt: skip
_SCRIPT_HEADS = re.compile(
    rb"\s*(#!|<\?php|<%@|@echo\s+off|set-executionpolicy|windows registry editor)", re.IGNORECASE
)
# The class of a Windows installer, which lies in a container that Word's old files share.
_INSTALLER_CLASS = bytes.fromhex("84100c0000000000c000000000000046")

_HEADS: tuple[tuple[bytes, str], ...] = (
    (b"%PDF-", PDF), (b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"), (b"GIF89a", "image/gif"), (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"), (b"\x1f\x8b", "application/gzip"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"Rar!\x1a\x07", "application/vnd.rar"), (b"{\\rtf", "application/rtf"),
)  # fmt: skip
_OFFICE_PARTS = (
    (b"word/", "wordprocessingml.document"), (b"xl/", "spreadsheetml.sheet"),
    (b"ppt/", "presentationml.presentation"),
)  # fmt: skip

# Name -> the types that its content may be found to have.
_ZIPPED: Mapping[str, str] = {
    "docx": _OFFICE + "wordprocessingml.document",
    "xlsx": _OFFICE + "spreadsheetml.sheet",
    "pptx": _OFFICE + "presentationml.presentation",
    "docm": "application/vnd.ms-word.document.macroenabled.12",
    "xlsm": "application/vnd.ms-excel.sheet.macroenabled.12",
    "pptm": "application/vnd.ms-powerpoint.presentation.macroenabled.12",
    "odt": _OPEN + "text", "ods": _OPEN + "spreadsheet", "odp": _OPEN + "presentation",
}  # fmt: skip
# Office files without macros; a type that may have them says so.
PLAIN_OFFICE = frozenset(_ZIPPED[name] for name in ("docx", "xlsx", "pptx"))
_OLD_OFFICE: Mapping[str, str] = {
    "doc": "application/msword",
    "xls": "application/vnd.ms-excel",
    "ppt": "application/vnd.ms-powerpoint",
    "msg": "application/vnd.ms-outlook",
}
_TEXTS: Mapping[str, str] = {
    "txt": "text/plain", "log": "text/plain", "csv": "text/csv",
    "tsv": "text/tab-separated-values", "md": "text/markdown", "json": "application/json",
    "xml": "application/xml", "html": "text/html", "htm": "text/html", "svg": "image/svg+xml",
    "eml": "message/rfc822", "ics": "text/calendar", "vcf": "text/vcard",
    "yaml": "application/yaml", "yml": "application/yaml", "css": "text/css",
}  # fmt: skip
_EXACT: Mapping[str, tuple[str, ...]] = {
    "pdf": (PDF,), "png": ("image/png",), "jpg": ("image/jpeg",), "jpeg": ("image/jpeg",),
    "gif": ("image/gif",), "tif": ("image/tiff",), "tiff": ("image/tiff",),
    "webp": ("image/webp",), "bmp": ("image/bmp",), "rtf": ("application/rtf",),
    "gz": ("application/gzip",), "7z": ("application/x-7z-compressed",),
    "rar": ("application/vnd.rar",), "zip": (ZIP, *_ZIPPED.values()),
}  # fmt: skip
# Type -> what people call such a file.
KINDS: Mapping[str, str] = {
    PDF: marked("PDF document"), ZIP: marked("Archive"),
    _ZIPPED["docx"]: marked("Word document"), _ZIPPED["docm"]: marked("Word document"),
    _OLD_OFFICE["doc"]: marked("Word document"), _ZIPPED["xlsx"]: marked("Excel workbook"),
    _ZIPPED["xlsm"]: marked("Excel workbook"), _OLD_OFFICE["xls"]: marked("Excel workbook"),
    _ZIPPED["pptx"]: marked("Presentation"), _ZIPPED["pptm"]: marked("Presentation"),
    _OLD_OFFICE["ppt"]: marked("Presentation"), _ZIPPED["odp"]: marked("Presentation"),
    _ZIPPED["odt"]: marked("Text document"), "application/rtf": marked("Text document"),
    _ZIPPED["ods"]: marked("Spreadsheet"), "text/csv": marked("Table (CSV)"),
    "text/tab-separated-values": marked("Table (TSV)"), "text/html": marked("Web page"),
    "application/json": marked("JSON file"), "application/xml": marked("XML file"),
    "application/yaml": marked("YAML file"), "message/rfc822": marked("E-mail message"),
    _OLD_OFFICE["msg"]: marked("E-mail message"), "text/calendar": marked("Calendar entry"),
    "text/vcard": marked("Business card"), "application/gzip": marked("Archive"),
    "application/x-7z-compressed": marked("Archive"), "application/vnd.rar": marked("Archive"),
}  # fmt: skip
_FAMILIES: Mapping[str, str] = {
    "image": marked("Picture"), "audio": marked("Sound recording"), "video": marked("Video"),
    "text": marked("Text file"), "font": marked("Font"),
}  # fmt: skip
_HTML = re.compile(rb"<(!doctype\s+html|html|head|body|script|iframe|title)\b", re.IGNORECASE)
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_SVG = re.compile(rb"<svg[\s>]", re.IGNORECASE)


def media_type_of(head: bytes, name: str) -> str:
    """The media type of a file that begins with ``head`` (``HEAD_BYTES`` of it, or all).

    Raises: UnsupportedMediaTypeError, it is a program or a script, or not what its name says.
    """
    extension = extension_of(name)
    # The name of a ".htaccess" is all extension.
    kind = extension or (name[1:].lower() if name.startswith(".") else "")
    if kind in _PROGRAM_NAMES or _is_program(head):
        raise _refused("Programs and scripts are not taken.")
    media_type = _text_type(head, extension) or _binary_type(head, extension)
    if not _fits(media_type, extension):
        raise _refused(f"The name says .{extension}, the content does not: it is {media_type}.")
    return media_type


def kind_of_file(media_type: str) -> str:
    """What people call a file of the type, as the catalogue has it: ``PDF document``."""
    family = _FAMILIES.get(media_type.partition("/")[0], marked("File"))
    return KINDS.get(media_type, family)


def is_text(media_type: str) -> bool:
    """Whether files of the type are characters from beginning to end."""
    return media_type in _TEXTS.values()


def _is_program(head: bytes) -> bool:
    if head.startswith(_PROGRAM_HEADS):
        # A text may begin with the letters MZ.
        return not head.startswith(b"MZ") or _text_of(head) is None
    return bool(_SCRIPT_HEADS.match(head.removeprefix(b"\xef\xbb\xbf"))) or _is_installer(head)


def _is_installer(head: bytes) -> bool:
    if not head.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1") or len(head) < 512:
        return False
    (shift,) = struct.unpack_from("<H", head, 30)
    (sector,) = struct.unpack_from("<I", head, 48)
    root = (sector + 1) << min(shift, 16)
    return head[root + 80 : root + 96] == _INSTALLER_CLASS


def _binary_type(head: bytes, extension: str) -> str:
    for begin, media_type in _HEADS:
        if head.startswith(begin):
            return media_type
    if head.startswith(b"PK\x03\x04"):
        return _zipped_type(head, extension)
    if head.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        return _OLD_OFFICE.get(extension, _OLE)
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return "image/webp"
    if head.startswith(b"BM") and head[6:10] == bytes(4):
        return "image/bmp"
    try:
        detected: str = puremagic.magic_string(head)[0].mime_type
    except (puremagic.PureError, ValueError, IndexError):
        return UNKNOWN
    # It knows pages and scripts too, from signs that binary files have now and then.
    is_media = detected.startswith(("image/", "audio/", "video/", "font/", "application/"))
    return (
        detected
        if is_media and detected not in _TEXTS.values() and len(detected) <= 100
        else UNKNOWN
    )


def _zipped_type(head: bytes, extension: str) -> str:
    if head[30:38] == b"mimetype":  # OpenDocument and EPUB say it in their first entry
        name = head[38:138].partition(b"PK")[0].decode("ascii", "replace")
        if re.fullmatch(r"application/[a-z0-9.+-]+", name):
            return name
    if b"[Content_Types].xml" in head or b"_rels/.rels" in head:
        for folder, kind in _OFFICE_PARTS:
            if folder in head:
                media_type = _OFFICE + kind
                macro = _ZIPPED.get(extension, "")
                return macro if extension.endswith("m") and macro else media_type
        return _ZIPPED.get(extension, ZIP)
    return ZIP


def _text_type(head: bytes, extension: str) -> str | None:
    """The type of a text; None when it is none."""
    text = _text_of(head)
    if text is None or text.startswith((b"%PDF-", b"{\\rtf")):
        return None
    begin = text[:4096].lstrip()
    if begin.startswith(b"<"):
        if _SVG.search(text[:4096]) and not _HTML.match(begin):
            return "image/svg+xml"
        if _HTML.search(begin):
            return "text/html"
        if begin.startswith(b"<?xml"):
            return "application/xml"
    media_type = _TEXTS.get(extension, "text/plain")
    # What a browser would run is found in the content or not at all.
    return media_type if media_type not in ("text/html", "image/svg+xml") else "text/plain"


def _text_of(head: bytes) -> bytes | None:
    """``head`` when it is text, in any encoding; None when it has what no text has."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:  # what ends within a letter was cut there
            return codecs.getincrementaldecoder("utf-16")().decode(head).encode()
        except UnicodeDecodeError:
            return None
    return None if _CONTROLS.search(head) else head.removeprefix(b"\xef\xbb\xbf")


def _fits(media_type: str, extension: str) -> bool:
    if extension in _EXACT:
        return media_type in _EXACT[extension]
    if extension in _ZIPPED:
        return media_type == _ZIPPED[extension]
    if extension in _OLD_OFFICE:
        # Old Word files are RTF or HTML now and then; the type that was found stands.
        return media_type in (_OLD_OFFICE[extension], "application/rtf")
    if extension in _TEXTS:
        return is_text(media_type)
    return True


def _refused(message: str) -> UnsupportedMediaTypeError:
    return UnsupportedMediaTypeError(message, [("file", message)])


def suspicion(media_type: str, head: bytes, tail: bytes) -> str | None:
    """Why a file is not to be given out, or None; ``tail`` are its last ``TAIL_BYTES``."""
    is_archive = head.startswith(b"PK")
    if not is_archive and _ends_as_archive(tail):
        return f"{media_type} that is a ZIP archive as well"
    # Readers of PDF look for its mark in the first kilobyte.
    if media_type != PDF and not is_text(media_type) and b"%PDF-" in head[:1024]:
        return f"{media_type} that is a PDF as well"
    if media_type.startswith("image/") and not is_text(media_type) and _ACTIVE.search(head):
        return f"{media_type} with a script inside"
    # Names of entries stand in the directory at the end; those of Office say "macroenabled".
    if is_archive and media_type in PLAIN_OFFICE and b"vbaProject.bin" in tail:
        return f"{media_type} with macros, which its name does not say"
    return None


def _ends_as_archive(tail: bytes) -> bool:
    at = tail.rfind(_END_OF_ARCHIVE)
    if at < 0 or len(tail) - at < _END_BYTES:
        return False
    comment = int.from_bytes(tail[at + 20 : at + 22], "little")
    return at + _END_BYTES + comment == len(tail)
