"""The one write path: validation, permission, state machine, audit and events of every change."""
