"""Documents: files, their versions, and public links to them."""
