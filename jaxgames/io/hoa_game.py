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

from collections.abc import Callable

import numpy as np

from jaxgames.acceptance import FALSE, TRUE, Acceptance, both, either, fin, inf
from jaxgames.arena import Arena
from jaxgames.emersonlei import Game
from jaxgames.io._files import FilePath, FormatError, writing
from jaxgames.io._hoa import PATTERN
from jaxgames.io._tokens import MAX_DEPTH, Token, Tokens, read_text
from jaxgames.quoting import quoted

PLAYERS = "spot-state-player:"

MAX_INTEGER = 2**31 - 3

MAX_MARKS = 62

_KNOWN = ("HOA:", "States:", "Start:", "AP:", "Alias:", "Acceptance:")
"""Headers that begin with a capital letter, and so may change the meaning."""


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
    return loads(read_text(path), path)


def loads(text: str, path: FilePath = "<text>") -> Game:
    """Reads the game of a text, as `load` that of a file."""
    return _Reader(path, text).game()


def save(path: FilePath, game: Game) -> None:
    """Writes a game; padding is left out.

    Args:
        path: the file, replaced when all is written; compressed if it ends in `.gz`,
            `.bz2` or `.xz`.
        game: the game.

    Raises:
        OSError: the file cannot be written.
    """
    with writing(path) as file:
        file.write(dumps(game).encode())


def dumps(game: Game) -> str:
    """The text of a game.

    Examples:
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


class _Reader:
    """Reads one game."""

    def __init__(self, path: FilePath, text: str):
        self._path = path
        self._tokens = Tokens(path, text, PATTERN, nested=True)
        self._count: int | None = None
        self._num_marks = 0
        self._condition: Acceptance | None = None
        self._players: list[int] | None = None
        self._depth = 0
        self._rows: dict[int, tuple[int, list[tuple[int, int]]]] = {}

    def game(self) -> Game:
        """The game, from its first token to the end of the text."""
        tokens = self._tokens
        tokens.take("HOA:", expected="'HOA:', which begins a game")
        tokens.take("v1", expected="version 'v1'")
        while tokens.next.kind == "header":
            self._header(tokens.take())
        body = tokens.take("--BODY--", expected="a header or '--BODY--'")
        if self._condition is None:
            tokens.refuse("the header lacks 'Acceptance:'", body)
        if self._players is None:
            tokens.refuse(
                f"the header lacks {PLAYERS!r}: an automaton without it is not a game",
                body,
            )
        while tokens.next.text == "State:":
            self._state(tokens.take())
        end = tokens.take("--END--", expected="'State:', an edge or '--END--'")
        if tokens.next.kind != "end":
            tokens.fail("the end, as a file holds one game")
        return self._built(end)

    def _header(self, token: Token) -> None:
        tokens, name = self._tokens, token.text
        match name:
            case "States:" if self._count is None:
                self._count = self._integer("the number of states", MAX_INTEGER)
            case "Acceptance:" if self._condition is None:
                what = "the number of acceptance sets"
                self._num_marks = self._integer(what, MAX_MARKS)
                self._condition = self._formula()
            case "spot-state-player:" if self._players is None:
                self._players = []
                while tokens.next.kind == "integer":
                    self._players.append(self._integer("a player", 1))
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

    def _integer(self, what: str, most: int) -> int:
        token = self._tokens.next
        if token.kind != "integer" or len(token.text) > 10 or int(token.text) > most:
            self._tokens.fail(f"{what}, from 0 to {most}")
        return int(self._tokens.take().text)

    # ---- conditions

    def _formula(self) -> Acceptance:
        return self._chain("|", either, lambda: self._chain("&", both, self._atom))

    def _chain(
        self, sign: str, join: Callable, part: Callable[[], Acceptance]
    ) -> Acceptance:
        parts = [part()]
        while self._tokens.next.text == sign:
            self._tokens.take()
            parts.append(part())
        return join(parts)

    def _atom(self) -> Acceptance:
        tokens, token = self._tokens, self._tokens.next
        if token.kind == "boolean":
            return TRUE if tokens.take().text == "t" else FALSE
        if token.text == "(":
            self._depth += 1
            if self._depth > MAX_DEPTH:
                tokens.fail(f"at most {MAX_DEPTH} nested parentheses")
            tokens.take()
            found = self._formula()
            tokens.take(")")
            self._depth -= 1
            return found
        kind = tokens.take("Inf", "Fin", expected="'Inf', 'Fin', '(', 't' or 'f'").text
        tokens.take("(")
        if tokens.next.text == "!":
            tokens.refuse(
                "complements of acceptance sets are not supported in games", tokens.next
            )
        what = "the number of an acceptance set"
        if not self._num_marks:
            tokens.refuse(f"{what} cannot be given, as there are none", tokens.next)
        mark = self._integer(what, self._num_marks - 1)
        tokens.take(")")
        return inf(mark) if kind == "Inf" else fin(mark)

    # ---- the body

    def _state(self, token: Token) -> None:
        tokens = self._tokens
        self._label()
        at = tokens.next
        most = (MAX_INTEGER if self._count is None else self._count) - 1
        state = self._integer("the number of a state", most)
        if state in self._rows:
            tokens.refuse(f"state {state} is listed twice", at)
        if tokens.next.kind == "string":
            tokens.take()
        common, edges = self._marks(), []
        while tokens.next.kind == "integer" or tokens.next.text == "[":
            self._label()
            target = self._integer("the number of a state", most)
            if tokens.next.text == "&":
                tokens.refuse("alternating automata are not supported", tokens.next)
            edges.append((target, self._marks()))
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

    def _marks(self) -> int:
        tokens, marks = self._tokens, 0
        if tokens.next.text == "{":
            tokens.take()
            while tokens.next.text != "}":
                if not self._num_marks:
                    tokens.refuse("there are no acceptance sets", tokens.next)
                what = "'}' or the number of an acceptance set"
                marks |= 1 << self._integer(what, self._num_marks - 1)
            tokens.take()
        return marks

    def _built(self, end: Token) -> Game:
        tokens, players = self._tokens, self._players
        assert players is not None
        assert self._condition is not None
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
        on_edges = [marks for _, edges in rows for _, marks in edges]
        arena = Arena.from_csr(
            np.cumsum([0, *(len(edges) for _, edges in rows)]),
            np.array([t for _, edges in rows for t, _ in edges], np.int32),
            owner=[player == 0 for player in players],
        )
        return Game.of(
            arena,
            self._condition,
            vertex_marks=np.array([common for common, _ in rows], np.int64),
            edge_marks=np.array(on_edges, np.int64) if any(on_edges) else None,
        )
