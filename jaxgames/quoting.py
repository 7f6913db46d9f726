"""What messages say of things: quotes that can be read, on one line, and counts."""

from collections.abc import Iterable

MOST_QUOTED = 80
"""Characters of what a message quotes, at most."""


def quoted(what: object) -> str:
    r"""Something from a file as it can stand in a message: cut, and on one line.

    Args:
        what: text, bytes, or a value of which the `repr` is shown.

    Examples:
        >>> print(quoted("a b"), quoted(b"caf\xc3\xa9"), quoted(None))
        'a b' 'café' None
        >>> len(quoted("a" * 1000))
        82
    """
    if isinstance(what, bytes | bytearray):
        # A character takes four bytes at most.
        what = bytes(what[: 4 * MOST_QUOTED + 4]).decode(errors="replace")
    if isinstance(what, str):
        return repr(clipped(what))
    try:
        return clipped(repr(what))
    except ValueError:  # an integer with too many digits to be shown
        return f"a value of type {type(what).__name__}"


def clipped(text: str) -> str:
    """The start of a text, as much of it as a message may quote."""
    return text if len(text) <= MOST_QUOTED else f"{text[: MOST_QUOTED - 3]}..."


def guess(word: str, known: Iterable[str]) -> str:
    """What a misspelt name was meant to be, in parentheses; nothing if nobody knows.

    Examples:
        >>> known = ["fpi", "zielonka"]
        >>> print("no solver is called 'zielonk'" + guess("zielonk", known))
        no solver is called 'zielonk' (did you mean 'zielonka'?)
        >>> guess("abc", known)
        ''
    """
    import difflib  # few messages need it

    word, known = word.lower(), list(known)
    found = [name for name in known if len(word) > 2 and name.startswith(word)]
    found = found or difflib.get_close_matches(word, known, n=1)
    return f" (did you mean {found[0]!r}?)" if found else ""


def unspaced(word: str, known: Iterable[str]) -> str:
    """What a proposition was meant to be if operators stand in it, as Spot reads them.

    Examples:
        >>> unspaced("GFa", ["a", "b"])
        ", or with blanks 'G F a'"
        >>> unspaced("Go", ["a"])
        ''
    """
    rest = word.lstrip("FGX")
    if rest == word or rest not in known:
        return ""
    return f", or with blanks {' '.join([*word[: len(word) - len(rest)], rest])!r}"


def counted(number: int, noun: str) -> str:
    """How many there are, in words: the plural of a noun, unless there is one.

    Examples:
        >>> counted(1, "vertex"), counted(2000, "vertex"), counted(0, "end component")
        ('1 vertex', '2,000 vertices', '0 end components')
        >>> counted(3, "memory"), counted(2, "latch"), counted(2, "play")
        ('3 memories', '2 latches', '2 plays')
    """
    if number == 1:
        return f"{number:,} {noun}"
    if noun.endswith("vertex"):
        return f"{number:,} {noun[:-2]}ices"
    if noun.endswith(("s", "x", "ch", "sh")):
        return f"{number:,} {noun}es"
    if noun.endswith("y") and noun[-2] not in "aeou":
        return f"{number:,} {noun[:-1]}ies"
    return f"{number:,} {noun}s"


def all_counted(**numbers: int) -> str:
    """How many there are of several things, by their names in the singular.

    Examples:
        >>> all_counted(vertex=3, edge=1)
        '3 vertices, 1 edge'
    """
    return ", ".join(counted(number, noun) for noun, number in numbers.items())
