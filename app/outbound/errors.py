"""What goes wrong with a call to another host."""


class OutboundError(Exception):
    """No answer came; the text says why, for whoever chose the address."""
