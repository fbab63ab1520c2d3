"""The errors that reading results can end in, split by what the user can do about them."""

from collections.abc import Iterable, Mapping


class LoadError(ValueError):
    """A file, folder or hint cannot be used.

    The message names the file, the line where there is one, what was found and what would be right.

    Parameters
    ----------
    message
        What is wrong and how to mend it.
    path
        The file concerned.
    line
        Its line, counted from 1.
    """

    def __init__(self, message: str, *, path: object = None, line: int | None = None) -> None:
        self.path = None if path is None else str(path)
        self.line = line
        where = "" if self.path is None else self.path if line is None else f"{self.path}:{line}"
        super().__init__(f"{where}: {message}" if where else message)


class NoRowsError(LoadError):
    """A file holds no row at all, such as that of a job that was stopped early; beside others it is passed over."""


class MissingHintError(LoadError):
    """A file was read but does not say everything a cube needs; hints can add it.

    Parameters
    ----------
    message
        As for `LoadError`.
    hints
        The names of the hints that are needed, such as ``("algorithm", "comm_size")``.
    examples
        Values that they may have, by name.
    """

    def __init__(
        self, message: str, *, hints: Iterable[str] = (), path: object = None, examples: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message, path=path)
        self.hints = tuple(hints)
        self.examples = dict(examples or {})
