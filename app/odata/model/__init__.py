"""The entity data model, and how it is declared."""
