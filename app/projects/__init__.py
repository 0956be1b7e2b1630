"""Projects and tasks."""
