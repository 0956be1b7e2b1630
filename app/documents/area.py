"""The area of documents; the modules of views register on it."""

from app.http.areas import Area

area = Area("documents", __name__, description="Documents: files, public links, previews, trash")
