"""An export as the answer to a request: a file to be saved."""

from __future__ import annotations

from flask import Response

from app.bi.exports.service import ExportFile


def file_response(file: ExportFile) -> Response:
    """The file with its name; its bytes pass as they are read."""
    headers = {
        "Content-Disposition": f'attachment; filename="{file.name}"',
        "Content-Length": str(file.size),
        "X-Row-Count": str(file.rows),
        "X-Truncated": "true" if file.is_truncated else "false",
        "X-Content-Type-Options": "nosniff",
    }
    return Response(file.pieces, content_type=file.media_type, headers=headers)
