"""``python -m app.bi.renderer svg|png``: a Vega-Lite specification in, a picture out."""

from __future__ import annotations

import importlib
import sys


def main() -> int:
    """Read the specification from the standard input, write the picture to the output."""
    renderer = importlib.import_module("vl_convert")
    spec = sys.stdin.buffer.read().decode()
    if sys.argv[1] == "png":
        picture: bytes = renderer.vegalite_to_png(spec, scale=2, allowed_base_urls=[])
    else:
        picture = renderer.vegalite_to_svg(spec, allowed_base_urls=[]).encode()
    sys.stdout.buffer.write(picture)
    return 0


if __name__ == "__main__":
    sys.exit(main())
