"""The console under ``/admin``: pages for people, over the same engine, services and rights."""
