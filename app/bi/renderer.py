"""A Vega-Lite specification in, a picture out; loaded by the process that draws alone."""

from __future__ import annotations

import vl_convert


def render(spec: str, form: str) -> bytes:
    """The picture of ``spec`` as ``svg`` or ``png``."""
    if form == "png":
        return vl_convert.vegalite_to_png(spec, scale=2, allowed_base_urls=[])
    return vl_convert.vegalite_to_svg(spec, allowed_base_urls=[]).encode()
