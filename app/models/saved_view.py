"""Views of the console's lists that people save."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.orm import Mapped

from app.db.types import string
from app.models.columns import Record, column, foreign_key


class SavedView(Record):
    """What a list is asked for, under a name: for who saved it, or for everybody."""

    __tablename__ = "saved_views"

    name: Mapped[str] = column("Name.", string(100))
    set_name: Mapped[str] = column("Entity set that is listed.", string(50), index=True)
    owner_id: Mapped[int] = foreign_key("users", "Who saved it.")
    is_shared: Mapped[bool] = column("Others see it.", default=False)
    # where=status%3Ais%3AOpen&sort=dueDate&columns=number%2CClient
    query: Mapped[str] = column("Words, conditions, order, columns.", string(4000))
    updated_at: Mapped[datetime] = column("Last change.")
