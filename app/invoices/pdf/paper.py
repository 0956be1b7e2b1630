"""The sheet that everything goes on: pages, where the next thing goes, what repeats on each."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from app.invoices.document import InvoiceDocument
from app.invoices.pdf import fonts
from app.invoices.pdf.drawing import Page
from app.invoices.pdf.shaping import Shaper
from app.invoices.pdf.style import BODY_BOTTOM, FOLLOWING_TOP
from app.invoices.pdf.typeset import Typesetter
from app.invoices.texts import Texts, texts_for
from app.invoices.wording import Formats


class Paper:
    """The pages of one document in the making.

    ``top`` is where the next thing goes. ``start_page`` draws what every page begins with; the
    foot, which tells the number of pages, is drawn when all are there.
    """

    def __init__(self, document: InvoiceDocument) -> None:
        self.document = document
        self.texts: Texts = texts_for(document.language)
        self.formats = Formats(document)
        countries = (document.buyer.address.country, document.seller.address.country)
        self.set = Typesetter(_shaper(fonts.han_face(document.language, *countries)))
        self.pages: list[Page] = []
        self.top = 0.0
        self.start_page: Callable[[Paper], None] = lambda paper: None

    @property
    def page(self) -> Page:
        return self.pages[-1]

    @property
    def room(self) -> float:
        """How much height is left on this page."""
        return BODY_BOTTOM - self.top

    def new_page(self) -> None:
        """Begin the next page."""
        self.pages.append(Page())
        self.top = FOLLOWING_TOP
        self.start_page(self)

    def keep_together(self, height: float) -> None:
        """Go to the next page unless ``height`` fits on this one."""
        if height > self.room:
            self.new_page()


@cache
def _shaper(han: int) -> Shaper:
    return Shaper(han)
