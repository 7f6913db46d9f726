"""What is said of a file that is not what it should be."""

import os

FilePath = str | os.PathLike[str]


class FormatError(ValueError):
    """A file does not hold what its format asks for.

    Attributes:
        path: the file.
        line: the line where it goes wrong, counted from 1, or None.
        message: what was expected and what was found.

    Examples:
        >>> str(FormatError("game.pg", 3, "expected ';'"))
        "game.pg:3: expected ';'"
    """

    def __init__(self, path: FilePath, line: int | None, message: str):
        super().__init__(os.fspath(path), line, message)
        self.path = os.fspath(path)
        self.line = line
        self.message = message

    def __str__(self) -> str:
        place = self.path if self.line is None else f"{self.path}:{self.line}"
        return f"{place}: {self.message}"
