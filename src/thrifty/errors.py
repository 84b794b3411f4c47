"""One root error and its few children. Every message names the value and what would be right."""


class ThriftyError(Exception):
    """The root of every error that thrifty raises on purpose."""


class InvalidValue(ThriftyError, ValueError):
    """A value of the right type that cannot be right: ``alpha must be in [0, 1], got 1.5``."""


class InvalidType(ThriftyError, TypeError):
    """A value of the wrong type: ``horizon must be an integer, got 10.5``."""


class FileError(ThriftyError, ValueError):
    """A file that is not what it should be: truncated, foreign, newer, or with unknown keys."""


class InvalidCall(ThriftyError, RuntimeError):
    """A call at a moment when it cannot be right: from inside another call on the same object."""


class MissingExtra(ThriftyError, ImportError):
    """An optional dependency is not installed; the message says what to install."""


class Unsupported(ThriftyError, ImportError):
    """A version of a dependency that thrifty was not tried with; the message says which ones were."""
