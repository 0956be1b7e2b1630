"""The knowledge base: articles, their revisions, and finding them."""
