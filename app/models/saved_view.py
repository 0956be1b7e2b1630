"""Views of the console's lists that people save."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Boolean
from sqlalchemy.orm import Mapped

from app.db.types import UtcDateTime, string
from app.models.columns import Record, column, foreign_key


class SavedView(Record):
    """What a list is asked for, under a name: for who saved it, or for everybody."""

    __tablename__ = "saved_views"

    name: Mapped[str] = column(string(100), "Name.")
    set_name: Mapped[str] = column(string(50), "Entity set that is listed.", index=True)
    owner_id: Mapped[int] = foreign_key("users", "Who saved it.")
    is_shared: Mapped[bool] = column(Boolean, "Others see it.", default=False)
    # where=status%3Ais%3AOpen&sort=dueDate&columns=number%2CClient
    query: Mapped[str] = column(string(4000), "Words, conditions, order, columns.")
    updated_at: Mapped[datetime] = column(UtcDateTime(), "Last change.")
