"""Looking into files: their text and a picture of their first page, in a process of its own."""
