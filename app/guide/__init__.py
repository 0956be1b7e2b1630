"""The guide: the pages of ``docs/`` as a small site with search, at ``/docs/guide``."""
