"""The area of customer relations."""

from app.http.areas import Area

area = Area(
    "crm",
    __name__,
    description="Customer relations: search, pipeline, conversion of leads, merging, import",
)
