"""The page of a document for the client who got it, behind a link that only its mail knows."""
