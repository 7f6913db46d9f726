"""The grammar of the Hanoi Omega-Automata format."""

import contextlib
import dataclasses
import itertools
import math
import os
import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, NoReturn

import numpy as np

from jaxgames import acceptance
from jaxgames.acceptance import Acceptance
from jaxgames.io import _hoa_loop, _limits, _texts
from jaxgames.io._files import FilePath, FormatError
from jaxgames.io._hoa_parts import MAX_INTEGER, PATTERN, Parts, plain_marks
from jaxgames.io._limits import OversizeError
from jaxgames.io._tokens import MAX_DEPTH, Token, Tokens
from jaxgames.io._whole import Whole
from jaxgames.ltl import Automaton, EmersonLei, Formula, from_alternating
from jaxgames.quoting import clipped, counted, quoted
from jaxgames.value import freeze

MAX_MARKS = 1 << 14
"""Most acceptance sets."""

MAX_SETS = 64
"""Most sets of edges that a condition without `Fin` may come to."""

MAX_PROPOSITIONS = 64

MAX_ALTERNATING = 1 << 12
"""Most states of an automaton that goes to several at once."""

MAX_EXPANDED = 10_000
"""Propositions that the aliases in one formula may come to."""

_PLAIN = re.compile(
    r"[ \t]*!?[ \t]*(?:0|[1-9][0-9]*)[ \t]*"
    r"(?:[&|][ \t]*!?[ \t]*(?:0|[1-9][0-9]*)[ \t]*)*+"
)
"""Literals with signs between them."""

_REPEATED = ("Start:", "Alias:", "properties:")
"""Headers that may be there more than once."""


class _AbortedError(Exception):
    """The automaton is to be discarded."""


class _Tokens(Tokens):
    """Tokens among which a sign to give up may come at any place."""

    def refuse(self, message: str, token: Token) -> NoReturn:
        if self.next.text == "--ABORT--":
            raise _AbortedError
        super().refuse(message, token)


class Found(NamedTuple):
    """An automaton that was read, and what it has beside.

    Attributes:
        automaton: as it is written, with a mark for each acceptance set.
        controllable: numbers of propositions; None where the header has none.
    """

    automaton: EmersonLei
    controllable: tuple[int, ...] | None


def automata(whole: Whole) -> Iterator[Automaton | EmersonLei]:
    """Reads the automata of a text, one after the other; else raises FormatError."""
    yield from (reader.automaton() for reader in _readers(whole))


def extended(whole: Whole) -> Iterator[Found]:
    """Reads the automata of a text whose propositions have owners, as `automata`."""
    yield from (reader.found() for reader in _readers(whole))


def _readers(whole: Whole) -> Iterator["_Reader"]:
    tokens, at = None, 0
    read, place = 0, 0  # bytes and characters up to where tokens have been read
    while not is_over(whole, at):
        if _hoa_loop.pays(whole.about) and (found := _by_code(whole, at)):
            reader, at = found
            yield reader
            continue
        if tokens is None:
            tokens = _Tokens(whole.path, whole.text, PATTERN, nested=True)
        if at > read:
            tokens.go_to(place + len(whole.part(read, at)))
        if tokens.next.kind == "end":
            return
        try:
            reader = _Reader(whole.path, tokens, whole.text)
            reader.read()
            yield reader
        except _AbortedError:
            tokens.take()
        except FormatError:
            raise
        except ValueError as error:  # a formula that comes to too much
            raise FormatError(whole.path, None, str(error)) from None
        before, place = place, tokens.next.position
        read += len(whole.text[before:place].encode(errors="surrogatepass"))
        at = read


def is_over(whole: Whole, at: int) -> bool:
    """Whether only blanks and comments follow, as far as a look ahead tells."""
    following = whole.start(at).lstrip()
    if following and not following.startswith(b"/*"):
        return False
    try:
        rest = whole.head(at)
        tokens = _Tokens(whole.path, rest, PATTERN, nested=True)
    except ValueError:
        return False
    return tokens.next.kind == "end" and len(rest.encode()) == whole.size - at


def _by_code(whole: Whole, at: int) -> tuple["_Reader", int] | None:
    """An automaton whose body is read by machine code, and where it ends; or None."""
    try:
        head = whole.head(at)
        tokens = _Tokens(whole.path, head, PATTERN, nested=True)
        reader = _Reader(whole.path, tokens, head)
        end = reader.read_by_code(whole, at)
    except OversizeError:
        raise
    except (ValueError, _AbortedError):  # told by those who read all in order
        return None
    return None if end is None else (reader, end)


class _Reader(Parts):
    """Reads one automaton."""

    def __init__(self, path: FilePath, tokens: Tokens, text: str):
        super().__init__(path, tokens, text)
        self._notes: list[str] = []
        self._seen: set[str] = set()
        self._num_states: int | None = None
        self._starts: dict[int, Token] = {}
        self._names: list[str] = []
        # Within formulas propositions and acceptance sets are named by their numbers.
        self._aliases: dict[str, Formula] = {}
        self._sizes: dict[str, int] = {}
        self._expanded = 0
        self._used: dict[int, Token] = {}
        self._in_body = False
        self._condition = acceptance.TRUE
        self._controllable: dict[int, Token] | None = None
        self._name = ""
        self._edges: list[tuple[int, Any, int, int]] = []
        self._listed: set[int] = set()
        # Conjunctions of states, masks, by the number that stands for each: -1, -2, ..
        self._together: dict[int, int] = {}
        self._labels: dict[str, tuple[tuple[int, int], ...] | None] = {}
        self._literals: dict[str, tuple[int, int]] = {}
        # The marks of each edge are one of a few masks, named by its number.
        self._masks: list[int] = []
        self._codes = np.zeros(0, np.int64)
        self._graph: Automaton

    def automaton(self) -> Automaton | EmersonLei:
        """The automaton that was read: with Büchi acceptance, if it has no `Fin`."""
        plain = "fin" not in _operators(self._condition)
        if plain:
            return self._made(self._clauses, acceptance.TRUE).graph
        return self.found().automaton

    def found(self) -> Found:
        """The automaton that was read, with all marks that its condition speaks of."""
        marks = self._condition.marks
        edges = len(self._codes)
        what = f"{len(marks)} acceptance sets of {edges} edges"
        _limits.check(self._path, None, what, len(marks) * edges)

        def sets(masks: list[int]) -> list[np.ndarray]:
            numbers = {mark % self._num_sets for mark in marks}
            inside = {number: np.zeros(len(masks), bool) for number in numbers}
            for column, mask in enumerate(masks):
                for number in numbers.intersection(_numbers(mask)):
                    inside[number][column] = True
            return [
                inside[mark % self._num_sets] ^ (mark >= self._num_sets)
                for mark in marks
            ]

        place = {mark: i for i, mark in enumerate(marks)}
        condition = self._condition.renamed(lambda mark: acceptance.inf(place[mark]))
        controllable = None if self._controllable is None else tuple(self._controllable)
        return Found(self._made(sets, condition), controllable)

    def read(self) -> None:
        self._head()
        if self._together or not self._at_once():
            tokens = self._tokens
            while tokens.next.text == "State:":
                self._state(tokens.take())
            end = tokens.take("--END--", expected="'State:', an edge or '--END--'")
            self._build(end)
        self._warn()

    def read_by_code(self, whole: Whole, at: int) -> int | None:
        """Reads one whose header alone is the text of this reader.

        Returns the byte after it; None if it is to be read token by token. Raises
        ValueError if something is wrong, or the header goes on.
        """
        self._head()
        following = self._tokens.next
        if self._together or following.kind == "end":
            return None
        begin = at + len(self._text[: following.position].encode())
        body = _hoa_loop.read(whole, begin, self._largest)
        if body is None or not all_differ(body.state):
            return None
        if not self._assembled(body, whole.part):
            return None
        self._warn()
        return body.end + len("--END--")

    def _head(self) -> None:
        """Reads the header, and the sign that the body begins."""
        tokens = self._tokens
        tokens.take("HOA:", expected="'HOA:', which begins an automaton")
        tokens.take("v1", expected="version 'v1'")
        while tokens.next.kind == "header":
            self._header(tokens.take())
        body = tokens.take("--BODY--", expected="a header or '--BODY--'")
        if "Acceptance:" not in self._seen:
            tokens.refuse("the header lacks 'Acceptance:'", body)
        for number in [x for x in self._controllable or () if x >= len(self._names)]:
            del self._controllable[number]  # pyright: ignore
            self._notes.append(
                f"{os.fspath(self._path)}: controllable-AP names proposition {number}, "
                f"but the automaton has {counted(len(self._names), 'proposition')}: "
                "it is ignored"
            )
        for number, token in self._used.items():
            if number >= len(self._names):
                tokens.refuse(f"there is no proposition {number}", token)
        self._in_body = True

    def _warn(self) -> None:
        """Warns of oddities in the header, once the automaton has been read."""
        for note in self._notes:
            warnings.warn(note, UserWarning, stacklevel=2)

    # ---- the header

    def _header(self, token: Token) -> None:
        tokens, name = self._tokens, token.text
        if name in self._seen and name not in _REPEATED:
            tokens.refuse(f"there is a second {quoted(name)}", token)
        self._seen.add(name)
        match name:
            case "States:":
                self._num_states = self.integer("the number of states")
            case "Start:":
                at = tokens.next
                self._starts.setdefault(self._target(), at)
            case "AP:":
                self._propositions()
            case "Alias:":
                at = tokens.take_kind("alias", "a name such as '@a'")
                if at.text in self._aliases:
                    tokens.refuse(f"alias {clipped(at.text)} is defined twice", at)
                self._expanded = 0
                self._aliases[at.text] = tokens.expression(self._letters, "&", "|")
                self._sizes[at.text] = self._expanded
                if self._aliases[at.text].depth > MAX_DEPTH:
                    tokens.refuse(f"alias {clipped(at.text)} is nested too deeply", at)
            case "Acceptance:":
                what = "the number of acceptance sets"
                self._num_sets = self.integer(what, MAX_MARKS)
                self._condition = self.acceptance()
            case "controllable-AP:":
                self._controllable = {}
                while tokens.next.kind == "integer":
                    at = tokens.next
                    what = "the number of a proposition"
                    number = self.integer(what, MAX_PROPOSITIONS - 1)
                    if number in self._controllable:
                        tokens.refuse(f"proposition {number} is listed twice", at)
                    self._controllable[number] = at
            case "name:":
                self._name = self._string("the name")
            case _ if name[0].isupper():
                tokens.refuse(
                    f"header {quoted(name)} is not supported, and may change the "
                    "meaning",
                    token,
                )
            case _:
                values = ("boolean", "integer", "string", "identifier")
                while tokens.next.kind in values:
                    tokens.take()

    def _propositions(self) -> None:
        count = self.integer("the number of propositions", MAX_PROPOSITIONS)
        for _ in range(count):
            at = self._tokens.next
            name = self._string(f"the names of {counted(count, 'proposition')}")
            if name in self._names:
                self._tokens.refuse(f"there are two propositions {quoted(name)}", at)
            self._names.append(name)

    def _string(self, what: str) -> str:
        text = self._tokens.take_kind("string", f"{what} in double quotes").text
        return re.sub(r"\\(.)", r"\1", text[1:-1], flags=re.DOTALL)

    # ---- expressions

    def _constant(self) -> Formula:
        return Formula("true" if self._tokens.take().text == "t" else "false")

    def _letters(self) -> Formula:
        """A constant, an alias or a proposition."""
        token = self._tokens.next
        self._expanded += self._sizes.get(token.text, 1)
        if token.kind == "boolean":
            return self._constant()
        if token.kind == "alias":
            name = clipped(token.text)
            if token.text not in self._aliases:
                self._tokens.refuse(f"alias {name} has not been defined", token)
            if self._expanded > MAX_EXPANDED:
                self._tokens.refuse(
                    f"with alias {name} the formula has {self._expanded} "
                    f"propositions, more than {MAX_EXPANDED}",
                    token,
                )
            return self._aliases[self._tokens.take().text]
        if token.kind != "integer":
            self._tokens.fail("a proposition's number, an alias, 't' or 'f'")
        what = "the number of a proposition"
        if self._in_body:
            number = self.integer(what, len(self._names) - 1)
        else:
            number = self.integer(what, MAX_PROPOSITIONS - 1)
            self._used.setdefault(number, token)
        return Formula("name", name=str(number))

    # ---- the body

    def _state(self, token: Token) -> None:
        tokens = self._tokens
        shared = self._optional_label()
        at = tokens.next
        state = self._number_of_state()
        if state in self._listed:
            tokens.refuse(f"state {state} is listed twice", at)
        self._listed.add(state)
        if tokens.next.kind == "string":
            tokens.take()
        common = self.marks()
        labels, ends = [], []
        while tokens.next.kind == "integer" or tokens.next.text == "[":
            start = tokens.next
            label = self._optional_label()
            if label and shared:
                tokens.refuse("the state already has a label", start)
            if labels and (label is None) != (labels[0] is None):
                tokens.refuse(
                    "expected labels on all edges of a state, or on none", start
                )
            labels.append(label)
            ends.append((self._target(), self.marks() | common))
        if shared:
            labels = [shared] * len(ends)
        if None in labels:
            labels, ends = self._implicit(token, ends)
        for label, (target, marks) in zip(labels, ends, strict=True):
            self._edges.append((state, label, target, marks))

    def _implicit(self, token: Token, ends: list[tuple[int, int]]):
        """Labels of edges that stand for one letter each; like edges are united."""
        count = 1 << len(self._names)
        if len(ends) != count:
            self._tokens.refuse(
                f"expected labels, or {counted(count, 'edge')}, one for each letter; "
                f"the state has {counted(len(ends), 'edge')}",
                token,
            )
        cubes: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for letter, end in enumerate(ends):
            cubes.setdefault(end, []).append((letter, letter ^ (count - 1)))
        return list(cubes.values()), list(cubes)

    def _optional_label(self) -> Formula | tuple[tuple[int, int], ...] | None:
        if self._tokens.next.text != "[":
            return None
        text = self._tokens.ahead("]")
        if text not in self._labels:
            self._labels[text] = self._cubes(text)
        cubes = self._labels[text]
        if cubes is not None:
            self._tokens.go_to(self._tokens.next.position + len(text) + 2)
            return cubes
        self._tokens.take()
        self._expanded = 0
        label = self._tokens.expression(self._letters, "&", "|")
        self._tokens.take("]")
        return label

    def _cubes(self, text: str) -> tuple[tuple[int, int], ...] | None:
        return _cubes(text, len(self._names), self._literals)

    @property
    def _largest(self) -> int:
        """The largest number that a state may have."""
        return MAX_INTEGER if self._num_states is None else self._num_states - 1

    def _number_of_state(self) -> int:
        return self.integer("the number of a state", self._largest)

    def _target(self) -> int:
        """A state, or a negative number for several states at once."""
        state = self._number_of_state()
        if self._tokens.next.text != "&":
            return state
        states = 1 << self._checked(state)
        while self._tokens.next.text == "&":
            self._tokens.take()
            states |= 1 << self._checked(self._number_of_state())
        for number, known in self._together.items():
            if known == states:
                return number
        number = -1 - len(self._together)
        self._together[number] = states
        return number

    def _checked(self, state: int) -> int:
        """A state of an alternating automaton."""
        if state >= MAX_ALTERNATING:
            self._tokens.refuse(
                f"an alternating automaton has at most {MAX_ALTERNATING} states",
                self._tokens.next,
            )
        return state

    def _plain_marks(self, text: str) -> int | None:
        return plain_marks(text, self._num_sets)

    # ---- the body, at once

    def _at_once(self) -> bool:
        """Reads the body by an expression, unless it is to be read token by token."""
        tokens, begin = self._tokens, self._tokens.next.position
        body = _hoa_loop.scan(self._text, begin, self._largest)
        found = False
        # What is wrong is told where it comes first, by those who read all in order.
        if body is not None and all_differ(body.state):
            with contextlib.suppress(ValueError, _AbortedError):
                found = self._assembled(body, lambda i, j: self._text[i:j])
        tokens.go_to(begin if not found or body is None else body.end)
        if found:
            tokens.take("--END--")
        return found

    def _assembled(self, body: _hoa_loop.Body, part: Callable[[int, int], str]) -> bool:
        """Makes the graph of a body, unless a state is not listed."""
        named = (max(self._starts, default=-1), body.state.max(initial=-1))
        last = max(*named, body.target.max(initial=-1))
        count = last + 1 if self._num_states is None else self._num_states
        if len(body.state) != count or self._has_too_many_sets():
            return False
        which, labels = self._each(body.label, part, self._cubes, self._optional_label)
        names = [str(number) for number in range(len(self._names))]
        guards = [Automaton.cubes_of(label, names) for label in labels]
        listed = np.array([x for guard in guards for x in guard], np.uint64)
        required, forbidden = listed.reshape(-1, 2).T
        width = np.array([len(guard) for guard in guards], np.int64)
        first = np.cumsum(width) - width
        counts = np.diff(body.offsets)
        ascend = not np.any(body.state[1:] < body.state[:-1])
        edges: np.ndarray | slice = slice(None)
        offsets = body.offsets
        if not ascend or not np.all(width == 1):
            sources = np.repeat(body.state, counts)
            edges = np.arange(len(sources))
            if not ascend:
                edges = np.argsort(sources, kind="stable")
            edges = edges[width[which[edges]] > 0]  # nothing takes the others
            degree = np.bincount(sources[edges], minlength=count)
            offsets = np.append(0, np.cumsum(degree)).astype(np.int32)
        if np.all(width == 1):
            cubes = which[edges]
            cube_offsets = np.arange(len(cubes) + 1, dtype=np.int32)
        else:
            width, first = width[which[edges]], first[which[edges]]
            cube_offsets = np.append(0, np.cumsum(width)).astype(np.int32)
            cubes = np.repeat(first - cube_offsets[:-1], width)
            cubes += np.arange(cube_offsets[-1])
        of_states, common = self._each(body.common, part, self._plain_marks, self.marks)
        of_edges, own = self._each(body.marks, part, self._plain_marks, self.marks)
        codes = of_edges
        if len(common) > 1:
            codes = np.repeat(of_states.astype(np.int64), counts) * len(own) + codes
        codes = codes[edges]
        if len(common) * len(own) <= len(codes):
            pairs = np.arange(len(common) * len(own))
        else:  # few of them are there
            pairs, codes = np.unique(codes, return_inverse=True)
        marks = [common[k // len(own)] | own[k % len(own)] for k in pairs.tolist()]
        self._masks, self._codes = marks, codes
        self._graph = Automaton(
            initial=np.array(sorted(self._starts), np.int32),
            propositions=tuple(self._names),
            offsets=freeze(offsets),
            targets=freeze(body.target[edges]),
            cube_offsets=freeze(cube_offsets),
            required=_texts.rows(required, cubes),
            forbidden=_texts.rows(forbidden, cubes),
            sets=np.zeros((0, len(codes)), bool),
            name=self._name,
        )
        return True

    def _each(
        self,
        texts: _texts.Texts,
        part: Callable[[int, int], str],
        plain: Callable[[str], Any],
        read: Callable[[], Any],
    ) -> tuple[np.ndarray, list]:
        """Reads each different text once; each is between a bracket and another one.

        Args:
            texts: where they are.
            part: gives the text between two places.
            plain: reads a text that is as most are; None if it is not.
            read: called where a bracket is next, for others.

        Returns:
            int32 `[N]`, the number of each text; and what was read of each number. Of
            nothing the marks are 0.
        """
        found, tokens = [], self._tokens
        try:
            for start, end in texts.places.T.tolist():
                one = plain(part(start, end)) if start else 0
                if one is None:
                    text = part(start - 1, end + 1)
                    self._tokens = _Tokens(self._path, text, PATTERN, nested=True)
                    one = read()
                    if self._tokens.next.kind != "end":
                        raise ValueError("the text goes on after the bracket")
                found.append(one)
        finally:
            self._tokens = tokens
        return texts.which, found

    # ---- the automaton

    def _build(self, end: Token) -> None:
        named = {*self._listed, *self._starts, *(r for _, _, r, _ in self._edges)}
        count = self._num_states
        together = [states.bit_length() - 1 for states in self._together.values()]
        last = max([*named, *together], default=-1)
        count = last + 1 if count is None else count
        if len(self._listed) < count:
            missing = next(q for q in itertools.count() if q not in self._listed)
            self._tokens.refuse(f"state {missing} of {count} is not listed", end)
        if self._has_too_many_sets():
            self._tokens.refuse(
                f"the acceptance condition needs more than {MAX_SETS} sets of edges",
                end,
            )
        if self._together:
            self._without_alternation(count)
            return
        codes: dict[int, int] = {}
        of_edges = [codes.setdefault(x, len(codes)) for _, _, _, x in self._edges]
        self._masks = list(codes)
        # The number of the marks of an edge goes with it as a set for each bit.
        bits = range(len(codes).bit_length())
        given = np.array([[n >> i & 1 for n in of_edges] for i in bits], bool)
        found = Automaton.from_edges(
            [q for q, _, _, _ in self._edges],
            [label for _, label, _, _ in self._edges],
            [r for _, _, r, _ in self._edges],
            num_states=count,
            initial=sorted(self._starts),
            propositions=map(str, range(len(self._names))),
            sets=given.reshape(len(bits), len(of_edges)),
            name=self._name,
        )
        self._codes = sum(
            (row.astype(np.int64) << i for i, row in enumerate(found.sets)),
            start=np.zeros(found.num_edges, np.int64),
        )
        self._graph = dataclasses.replace(found, propositions=tuple(self._names))

    def _without_alternation(self, count: int) -> None:
        """Makes a Büchi automaton of one that goes to several states at once."""
        # A mark of each set, and one of what is not in it.
        bit = 1 << self._num_sets
        edges = [
            (
                q,
                tuple(label) if isinstance(label, list) else label,
                _numbers(self._together.get(target) or 1 << target),
                _numbers(marks | (bit - 1 & ~marks) << self._num_sets),
            )
            for q, label, target, marks in self._edges
        ]
        starts = [self._together.get(q) or 1 << q for q in sorted(self._starts)]
        graph = from_alternating(
            edges,
            map(_numbers, starts),
            self._condition,
            num_states=count,
            propositions=self._names,
            name=self._name,
        )
        self._num_sets, self._condition = graph.num_sets, acceptance.TRUE
        if graph.num_sets:
            self._condition = acceptance.inf(0)
        self._masks = [0, 1]
        self._codes = np.asarray(graph.sets.any(axis=0), np.int64).reshape(-1)
        nothing = np.zeros((0, graph.num_edges), bool)
        self._graph = dataclasses.replace(graph, sets=nothing)

    def _made(
        self, sets: Callable[[list[int]], list[np.ndarray]], condition: Acceptance
    ) -> EmersonLei:
        """The automaton whose sets of edges are made of the masks of their marks."""
        found = sets(self._masks)
        columns = np.array(found, bool).reshape(len(found), len(self._masks))
        of_edges = _texts.columns(columns, self._codes)
        graph = dataclasses.replace(self._graph, sets=of_edges)
        return EmersonLei(graph, condition)

    def _has_too_many_sets(self) -> bool:
        """Whether acceptance is to be that of sets alone, and these are too many."""
        if "fin" in _operators(self._condition):
            return False
        return self._condition.fold(_one_set, _num_clauses) > MAX_SETS

    def _clauses(self, masks: list[int]) -> list[np.ndarray]:
        """Sets of edges, all of which are met infinitely often if it accepts."""

        def leaf(node: Acceptance) -> list[np.ndarray]:
            if node.operator == "true":
                return []
            if node.operator == "false":
                return [np.zeros(len(masks), bool)]
            return [_members(masks, node.mark, self._num_sets)]

        def join(node: Acceptance, parts: list) -> list[np.ndarray]:
            if node.operator == "&":
                return [one for part in parts for one in part]
            # Some edge of one or the other is met again and again: one of both is.
            found = parts[0]
            for part in parts[1:]:
                found = [a | b for a in found for b in part]
            return found

        return self._condition.fold(leaf, join)


def _cubes(
    text: str, count: int, known: dict[str, tuple[int, int]]
) -> tuple[tuple[int, int], ...] | None:
    """The cubes of a label that is a plain disjunction of such; else None.

    `known` remembers what literals are, as they are written.
    """
    if not _PLAIN.fullmatch(text):
        return None
    found = []
    for cube in text.split("|"):
        must = never = 0
        for literal in cube.split("&"):
            if literal not in known:
                number = literal.strip(" \t!")
                if len(number) > 2 or int(number) >= count:
                    return None  # of which the other way tells
                bit = 1 << int(number)
                known[literal] = (0, bit) if "!" in literal else (bit, 0)
            on, off = known[literal]
            must |= on
            never |= off
        if not must & never:
            found.append((must, never))
    return tuple(found)


def _operators(condition: Acceptance) -> set[str]:
    return condition.fold(
        lambda node: {node.operator}, lambda node, found: set().union(*found)
    )


def _numbers(mask: int) -> list[int]:
    """The numbers of the bits of a mask."""
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found


def _members(masks: list[int], mark: int, num_sets: int) -> np.ndarray:
    """Which masks have a mark; those from `num_sets` on are of what is not in a set."""
    number, negated = mark % num_sets, mark >= num_sets
    return np.array([(mask >> number & 1) != negated for mask in masks], bool)


def _one_set(condition: Acceptance) -> int:
    return int(condition.operator != "true")


def _num_clauses(condition: Acceptance, parts: list[int]) -> int:
    """How many sets there will be; if they are too many, that they are."""
    found = sum(parts) if condition.operator == "&" else math.prod(parts)
    return min(found, MAX_SETS + 1)


def all_differ(numbers: np.ndarray) -> bool:
    ascend = bool(np.all(numbers[1:] > numbers[:-1]))
    return ascend or len(np.unique(numbers)) == len(numbers)
