"""Classes that declare tables: their attributes are the columns of a table of its own."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Column, Integer, MetaData, Text, UniqueConstraint, select, update

from app.declaring import DeclaredTable, Mapped, declared_attr, mapped_column


class Keyed:
    """What two tables share."""

    @declared_attr
    def id(cls) -> Mapped[int]:
        return mapped_column(Integer, primary_key=True)

    @declared_attr.directive
    def __table_args__(cls) -> tuple[Any, ...]:
        return (UniqueConstraint("id"), {"comment": "shared"})


@pytest.fixture
def classes() -> tuple[Any, Any]:
    class Base(DeclaredTable):
        metadata = MetaData()

    class Bird(Keyed, Base):
        __tablename__ = "birds"
        name: Mapped[str] = mapped_column(Text, nullable=False)

    class Nest(Keyed, Base):
        __tablename__ = "nests"
        __table_args__ = ()

    return Bird, Nest


def test_attributes_are_the_columns_of_the_table(classes: tuple[Any, Any]) -> None:
    bird, _ = classes
    assert bird.__table__.columns.keys() == ["name", "id"]  # what is shared comes last
    assert bird.name is bird.__table__.c.name
    assert isinstance(bird.id, Column)
    assert [column.name for column in bird.__table__.primary_key] == ["id"]


def test_each_class_has_a_shared_column_of_its_own(classes: tuple[Any, Any]) -> None:
    bird, nest = classes
    assert (bird.id.table.name, nest.id.table.name) == ("birds", "nests")


def test_constraints_and_options_are_given_as_arguments_of_the_table(
    classes: tuple[Any, Any],
) -> None:
    bird, nest = classes
    of_bird, of_nest = (
        [type(rule) for rule in made.__table__.constraints].count(UniqueConstraint)
        for made in classes
    )
    assert (bird.__table__.comment, of_bird) == ("shared", 1)
    assert (nest.__table__.comment, of_nest) == (None, 0)


def test_a_class_stands_for_its_table_in_a_statement(classes: tuple[Any, Any]) -> None:
    bird, nest = classes
    joined = select(bird).join(nest, nest.id == bird.id)
    assert " ".join(str(joined).split()) == (
        "SELECT birds.name, birds.id FROM birds JOIN nests ON nests.id = birds.id"
    )
    assert str(update(bird).values(name="x")) == "UPDATE birds SET name=:name"


def test_a_class_without_a_name_of_a_table_declares_none() -> None:
    class Base(DeclaredTable):
        metadata = MetaData()

    assert not hasattr(Base, "__table__")
    assert Base.metadata.tables == {}
