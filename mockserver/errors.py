"""What can go wrong before the server answers anything."""


class StartError(Exception):
    """Broken input at start-up; the message is one line that says what and where, and what to do."""
