"""Games in the Hanoi Omega-Automata format, as Spot writes them.

    HOA: v1
    States: 2
    Start: 0
    Acceptance: 2 Fin(0) | Inf(1)
    spot-state-player: 0 1
    --BODY--
    State: 0 {0} [t] 0 [t] 1
    State: 1 {1} [t] 0
    --END--

An automaton whose states belong to players: whose state it is chooses the edge. Player
1 of the file wants the acceptance condition, as player 0 of a
[`Game`][jaxgames.emersonlei.Game] does, so that the players are exchanged here. Labels
of edges say nothing of the game, and are left out; the conditions are all that the
format has, but for `Inf(!0)` and `Fin(!0)`. Alternation is refused.

References:
    Babiak et al., The Hanoi Omega-Automata format, CAV 2015,
    doi:10.1007/978-3-319-21690-4_31; https://adl.github.io/hoaf/.
    Duret-Lutz et al., From Spot 2.0 to Spot 2.10: what's new?, CAV 2022,
    doi:10.1007/978-3-031-13188-2_9.
"""

import contextlib
import re
from collections.abc import Callable

import numpy as np

from jaxgames.acceptance import Acceptance
from jaxgames.arena import Arena
from jaxgames.emersonlei import Game
from jaxgames.io import _hoa_loop, _texts
from jaxgames.io._files import FilePath, FormatError, write_text
from jaxgames.io._hoa import all_differ, is_over
from jaxgames.io._hoa_parts import PATTERN, Parts, plain_marks
from jaxgames.io._tokens import Token, Tokens
from jaxgames.io._whole import Whole
from jaxgames.quoting import quoted
from jaxgames.tuning.io import SHORT_HOA_BYTES as _SHORT

PLAYERS = "spot-state-player:"

MAX_INTEGER = 2**31 - 3

MAX_MARKS = 62

_KNOWN = ("HOA:", "States:", "Start:", "AP:", "Alias:", "Acceptance:")
"""Headers that begin with a capital letter, and so may change the meaning."""

_BODY = "--BODY--"

_PLAYER_LIST = re.compile(r"(?:\s*[01](?![0-9]))*+")

_NO_PLAYERS = bytes({*range(256)} - {*b"01"})

_LABEL = re.compile(
    r"(?:\s|0(?![0-9])|[1-9][0-9]*+|[tf](?![0-9A-Za-z_:-])|@[0-9A-Za-z_-]++"
    r"|[!&|(){}])*+"
)
"""What may stand between the brackets of a label; what it says matters to nobody."""


def load(path: FilePath) -> Game:
    """Reads the game of a file.

    Args:
        path: the file; decompressed if it ends in `.gz`, `.bz2` or `.xz`.

    Raises:
        FormatError: the file holds no such game, or a state without a successor; tells
            the line and the column.
        OSError: the file cannot be read.

    Examples:
        >>> import pathlib, tempfile
        >>> from jaxgames import Arena, emersonlei
        >>> arena = Arena.from_edges([0, 0, 1], [0, 1, 0], owner=[1, 0])
        >>> game = emersonlei.Game.streett(arena, [([0], [1])])
        >>> path = pathlib.Path(tempfile.mkdtemp(), "game.hoa")
        >>> save(path, game)
        >>> load(path)
        Game(2 vertices, 3 edges, Fin(0) | Inf(1))
    """
    return _read(Whole.coming(path))


def loads(text: str, path: FilePath = "<text>") -> Game:
    """Reads the game of a text, as `load` that of a file."""
    return _read(Whole.of(path, text))


def save(path: FilePath, game: Game) -> None:
    """Writes a game; padding is left out.

    Args:
        path: the file, replaced when all is written; compressed if it ends in `.gz`,
            `.bz2` or `.xz`.
        game: the game.

    Raises:
        OSError: the file cannot be written.
    """
    write_text(path, dumps(game))


def dumps(game: Game) -> str:
    """The text of a game.

    Examples:
        >>> from jaxgames.acceptance import inf
        >>> arena = Arena.from_edges([0, 0, 1], [0, 1, 0], owner=[1, 0])
        >>> print(dumps(Game.of_sets(arena, inf(0), [[1]])))
        HOA: v1
        States: 2
        AP: 0
        Acceptance: 1 Inf(0)
        properties: trans-labels explicit-labels
        spot-state-player: 0 1
        --BODY--
        State: 0
        [t] 0
        [t] 1
        State: 1 {0}
        [t] 0
        --END--
        <BLANKLINE>
    """
    game = game.unpad()
    arena, size = game.arena, game.shape[0]
    known = max(game.condition.marks, default=-1) + 1

    def marks(bits: np.ndarray | None, at: int) -> str:
        if bits is None:
            return ""
        found = [str(k) for k in range(known) if int(bits[at]) >> k & 1]
        return f" {{{' '.join(found)}}}" if found else ""

    players = " ".join("0" if his else "1" for his in arena.owner.tolist())
    lines = [
        "HOA: v1",
        f"States: {size}",
        "AP: 0",
        f"Acceptance: {known} {game.condition}",
        "properties: trans-labels explicit-labels",
        f"{PLAYERS} {players}".rstrip(),
        "--BODY--",
    ]
    row_ptr, dst = arena.row_ptr.tolist(), arena.dst.tolist()
    for v in range(size):
        lines.append(f"State: {v}{marks(game.vertex_marks, v)}")
        for e in range(row_ptr[v], row_ptr[v + 1]):
            lines.append(f"[t] {dst[e]}{marks(game.edge_marks, e)}")
    return "\n".join([*lines, "--END--", ""])


def _read(whole: Whole) -> Game:
    if _hoa_loop.pays(whole.about):
        try:
            found = _by_code(whole)
        except ValueError:  # what is wrong is told by those who read all in order
            found = None
        if found is not None:
            return found
    return _Reader(whole.path, whole.text).game()


def _by_code(whole: Whole) -> Game | None:
    """The game whose body is read by machine code; None: token by token."""
    # Each state has a player in the header, which is as long as that takes.
    mark = whole.find(_BODY.encode(), 0)
    if mark < 0:
        return None
    begin = mark + len(_BODY)
    reader = _Reader(whole.path, whole.part(0, begin))
    reader.head()
    body = _hoa_loop.read(whole, begin, reader.largest)
    if body is None or not is_over(whole, body.end + len("--END--")):
        return None
    return reader.assembled(body, whole.part)


class _Reader(Parts):
    """Reads one game."""

    complements = False

    def __init__(self, path: FilePath, text: str):
        super().__init__(path, Tokens(path, text, PATTERN, nested=True), text)
        self._count: int | None = None
        self._condition: Acceptance | None = None
        self._players: bytes | None = None
        self._rows: dict[int, tuple[int, list[tuple[int, int]]]] = {}

    def game(self) -> Game:
        """The game, from its first token to the end of the text."""
        self.head()
        tokens, begin = self._tokens, self._tokens.next.position
        body = None
        if len(self._text) - begin > _SHORT:
            body = _hoa_loop.scan(self._text, begin, self.largest)
        if body is not None:
            # What is wrong is told where it comes first, by reading all in order.
            with contextlib.suppress(FormatError):
                tokens.go_to(body.end + len("--END--"))
                if tokens.next.kind == "end":
                    found = self.assembled(body, lambda i, j: self._text[i:j])
                    if found is not None:
                        return found
            tokens.go_to(begin)
        while tokens.next.text == "State:":
            self._state(tokens.take())
        end = tokens.take("--END--", expected="'State:', an edge or '--END--'")
        if tokens.next.kind != "end":
            tokens.fail("the end, as a file holds one game")
        return self._built(end)

    def head(self) -> None:
        """Reads the header, and the sign that the body begins."""
        tokens = self._tokens
        tokens.take("HOA:", expected="'HOA:', which begins a game")
        tokens.take("v1", expected="version 'v1'")
        while tokens.next.kind == "header":
            self._header(tokens.take())
        body = tokens.take(_BODY, expected="a header or '--BODY--'")
        if self._condition is None:
            tokens.refuse("the header lacks 'Acceptance:'", body)
        if self._players is None:
            tokens.refuse(
                f"the header lacks {PLAYERS!r}: an automaton without it is not a game",
                body,
            )

    @property
    def largest(self) -> int:
        """The largest number that a state may have."""
        return (MAX_INTEGER if self._count is None else self._count) - 1

    def assembled(
        self, body: _hoa_loop.Body, part: Callable[[int, int], str]
    ) -> Game | None:
        """The game of a body; None where something may be wrong."""
        last = max(body.state.max(initial=-1), body.target.max(initial=-1))
        count = last + 1 if self._count is None else self._count
        degree = np.diff(body.offsets)
        players = self._players
        assert players is not None
        if not len(body.state) == count == len(players) > 0 or not degree.all():
            return None
        labels = body.label.places.T.tolist()
        if not all(_LABEL.fullmatch(part(start, end)) for start, end in labels):
            return None
        common, own = self._each(body.common, part), self._each(body.marks, part)
        if common is None or own is None or not all_differ(body.state):
            return None
        row_ptr, target = body.offsets, body.target
        if np.any(body.state[1:] < body.state[:-1]):
            order = np.argsort(body.state)
            edges = np.argsort(np.repeat(body.state, degree), kind="stable")
            row_ptr = np.append(0, np.cumsum(degree[order]))
            common, own, target = common[order], own[edges], target[edges]
        return self._game(row_ptr, target, common, own)

    def _each(
        self, texts: _texts.Texts, part: Callable[[int, int], str]
    ) -> np.ndarray | None:
        """The masks of acceptance sets, each different text of which is read once."""
        masks = []
        for start, end in texts.places.T.tolist():
            mask = plain_marks(part(start, end), self._num_sets) if start else 0
            if mask is None:
                return None
            masks.append(mask)
        return _texts.rows(np.array(masks, np.int64), texts.which)

    def _game(
        self,
        row_ptr: np.ndarray,
        target: np.ndarray,
        common: np.ndarray,
        own: np.ndarray,
    ) -> Game:
        """The game, of arrays in the order of the states, edges and masks of marks."""
        assert self._players is not None
        assert self._condition is not None
        owner = np.frombuffer(self._players, np.uint8) == ord("0")
        arena = Arena.from_csr(row_ptr, target, owner=owner)
        return Game.of(
            arena,
            self._condition,
            vertex_marks=common,
            edge_marks=own if own.any() else None,
        )

    def _header(self, token: Token) -> None:
        tokens, name = self._tokens, token.text
        match name:
            case "States:" if self._count is None:
                self._count = self.integer("the number of states", MAX_INTEGER)
            case "Acceptance:" if self._condition is None:
                what = "the number of acceptance sets"
                self._num_sets = self.integer(what, MAX_MARKS)
                self._condition = self.acceptance()
            case "spot-state-player:" if self._players is None:
                begin = tokens.next.position
                listed = _PLAYER_LIST.match(self._text, begin)
                assert listed is not None  # it matches the empty text
                tokens.go_to(listed.end())
                self._players = listed[0].encode().translate(None, _NO_PLAYERS)
                while tokens.next.kind == "integer":  # behind a comment
                    self._players += b"%d" % self.integer("a player", 1)
            case "Start:":
                while tokens.next.kind == "integer":
                    tokens.take()
                if tokens.next.text == "&":
                    tokens.refuse("alternating automata are not supported", tokens.next)
            case _ if name in ("States:", "Acceptance:", PLAYERS):
                tokens.refuse(f"there is a second {quoted(name)}", token)
            case _ if name[0].isupper() and name not in _KNOWN:
                tokens.refuse(
                    f"header {quoted(name)} is not supported, and may change the "
                    "meaning",
                    token,
                )
            case _:
                while tokens.next.kind not in ("header", "mark", "end"):
                    tokens.take()

    # ---- the body

    def _state(self, token: Token) -> None:
        tokens = self._tokens
        self._label()
        at = tokens.next
        state = self.integer("the number of a state", self.largest)
        if state in self._rows:
            tokens.refuse(f"state {state} is listed twice", at)
        if tokens.next.kind == "string":
            tokens.take()
        common, edges = self.marks(), []
        while tokens.next.kind == "integer" or tokens.next.text == "[":
            self._label()
            target = self.integer("the number of a state", self.largest)
            if tokens.next.text == "&":
                tokens.refuse("alternating automata are not supported", tokens.next)
            edges.append((target, self.marks()))
        if not edges:
            tokens.refuse(
                f"state {state} has no edge: each state of a game needs one", token
            )
        self._rows[state] = common, edges

    def _label(self) -> None:
        """Skips a label."""
        tokens = self._tokens
        if tokens.next.text != "[":
            return
        tokens.take()
        while tokens.next.text != "]":
            if tokens.next.kind not in ("integer", "boolean", "alias", "sign"):
                tokens.fail("']' or a part of a label")
            tokens.take()
        tokens.take()

    def _built(self, end: Token) -> Game:
        tokens, players = self._tokens, self._players
        assert players is not None
        targets = [t for _, edges in self._rows.values() for t, _ in edges]
        count = max([*self._rows, *targets], default=-1) + 1
        count = count if self._count is None else self._count
        if len(self._rows) < count:
            missing = next(v for v in range(count) if v not in self._rows)
            tokens.refuse(f"state {missing} of {count} is not listed", end)
        if len(players) != count:
            raise FormatError(
                self._path,
                None,
                f"{PLAYERS} has {len(players)} players, and there are {count} states",
            )
        rows = [self._rows[v] for v in range(count)]
        return self._game(
            np.cumsum([0, *(len(edges) for _, edges in rows)]),
            np.array([t for _, edges in rows for t, _ in edges], np.int32),
            np.array([common for common, _ in rows], np.int64),
            np.array([marks for _, edges in rows for _, marks in edges], np.int64),
        )
