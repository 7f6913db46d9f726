"""The grammar of never claims."""

import re
from typing import NamedTuple

from jaxgames.io._files import FilePath, FormatError
from jaxgames.io._tokens import Token, Tokens
from jaxgames.ltl import Automaton, Formula
from jaxgames.quoting import quoted

_PATTERN = re.compile(
    r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)|(?P<integer>[0-9]+)"
    r"|(?P<sign>->|&&|\|\||::|[!(){};:])"
)

_CONSTANTS = {
    "true": "true",
    "1": "true",
    "skip": "true",
    "false": "false",
    "0": "false",
}

_WORDS = re.compile(
    "active|assert|atomic|bit|bool|break|byte|chan|d_step|do|else|empty|enabled|eval|"
    "false|fi|for|full|goto|hidden|if|inline|init|int|len|mtype|nempty|never|nfull|od|"
    "of|pcvalue|pid|printf|priority|proctype|provided|run|short|show|skip|timeout|true|"
    "typedef|unless|unsigned|while|xr|xs"
)
"""Words of the language, which cannot name anything."""


def is_name(text: str) -> bool:
    """Whether a proposition can be called like this."""
    name = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", text)
    return name is not None and not _WORDS.fullmatch(text)


class _Option(NamedTuple):
    """A way on from a statement."""

    guard: Formula
    label: Token | None
    """Where it goes to, None if that is not said by a label."""
    place: int
    """Where it goes to then: a statement's number; -1 is the end."""


_END = -1


def claim(path: FilePath, text: str) -> Automaton:
    """Reads a never claim; else raises FormatError."""
    reader = _Reader(Tokens(path, text, _PATTERN, nested=False))
    try:
        return reader.automaton()
    except FormatError:
        raise
    except ValueError as error:  # too many propositions
        raise FormatError(path, None, str(error)) from None


class _Reader:
    def __init__(self, tokens: Tokens):
        self._tokens = tokens
        self._statements: list[list[_Option]] = []
        self._labels: dict[str, int] = {}
        self._jumps: dict[int, Token] = {}
        self._settled: dict[int, int] = {}  # where chains of jumps lead

    def automaton(self) -> Automaton:
        """The claim, and nothing behind it."""
        tokens = self._tokens
        tokens.take("never", expected="'never', which begins a claim")
        if tokens.next.kind == "name":
            tokens.take()
        tokens.take("{")
        while tokens.next.text != "}":
            self._statement()
        tokens.take("}", expected="a statement or '}'")
        if tokens.next.kind != "end":
            tokens.fail("the end: a file holds one claim")
        return self._build()

    def _statement(self) -> None:
        tokens = self._tokens
        here = len(self._statements)
        if tokens.next.text == ";":
            tokens.take()
            return
        first = tokens.next
        if first.text in ("if", "do"):
            tokens.take()
            self._statements.append([])
            self._statements[here] = self._options(here, first.text)
        elif first.text == "goto":
            tokens.take()
            self._statements.append([])
            self._jumps[here] = tokens.take_kind("name", "a label")
        elif first.kind == "name" and is_name(first.text):
            tokens.take()
            if tokens.next.text != ":":
                tokens.fail(f"':' after the label {quoted(first.text)}")
            tokens.take()
            if first.text in self._labels:
                tokens.refuse(f"there is a second label {quoted(first.text)}", first)
            self._labels[first.text] = here
        elif first.text == "(" or first.text in _CONSTANTS:
            self._statements.append([])
            self._statements[here] = [_Option(self._guard(), None, here + 1)]
        else:
            tokens.fail("a label, 'if', 'do', 'goto', 'skip', 'false' or '}'")

    def _options(self, here: int, kind: str) -> list[_Option]:
        tokens, options, others = self._tokens, [], []
        behind = here if kind == "do" else here + 1
        end = "od" if kind == "do" else "fi"
        while tokens.next.text == "::":
            tokens.take()
            atomic = tokens.next.text == "atomic"
            if atomic:
                tokens.take()
                tokens.take("{")
            if tokens.next.text == "else":
                tokens.take()
                guard = None
            else:
                guard = self._guard()
                others.append(guard)
            label, place = None, behind
            if tokens.next.text in ("->", ";"):
                tokens.take()
                label, place = self._action(here, behind)
                while tokens.next.text == ";":
                    tokens.take()
            if atomic:
                tokens.take("}")
            options.append((guard, label, place))
        tokens.take(end, expected=f"'::' or {end!r}")
        rest = Formula("!", (Formula("|", (Formula("false"), *others)),))
        return [_Option(rest if x is None else x, y, z) for x, y, z in options]

    def _action(self, here: int, behind: int) -> tuple[Token | None, int]:
        tokens = self._tokens
        match tokens.next.text:
            case "goto":
                tokens.take()
                return tokens.take_kind("name", "a label"), 0
            case "skip":
                tokens.take()
                return None, behind
            case "break" if behind == here:
                tokens.take()
                return None, here + 1
            case "assert":
                tokens.take()
                tokens.take("(")
                tokens.expression(self._atom, "&&", "||")
                tokens.take(")")
                return None, _END
        return tokens.fail("'goto', 'skip', 'break' or 'assert'")

    def _guard(self) -> Formula:
        return self._tokens.expression(self._atom, "&&", "||")

    def _atom(self) -> Formula:
        token = self._tokens.next
        if token.text in _CONSTANTS:
            self._tokens.take()
            return Formula(_CONSTANTS[token.text])
        if token.kind != "name" or not is_name(token.text):
            self._tokens.fail("a proposition, '!', '(' or a constant")
        return Formula("name", name=self._tokens.take().text)

    # ---- the automaton

    def _build(self) -> Automaton:
        """Numbers the statements that are reached, in order; the end comes last."""
        edges: dict[int, list[tuple[Formula, int]]] = {}
        start = self._settle(0)
        pending = [start]
        for here in pending:
            if here in edges:
                continue
            if here == _END:
                edges[here] = [(Formula("true"), _END)]
                continue
            edges[here] = [
                (option.guard, self._target(option))
                for option in self._statements[here]
            ]
            pending += [place for _, place in edges[here]]
        order = sorted(edges, key=lambda x: (x == _END, x))
        number = {place: i for i, place in enumerate(order)}
        named = {
            self._settle(x) for y, x in self._labels.items() if y.startswith("accept")
        }
        rows = [(here, *edge) for here in order for edge in edges[here]]
        names = dict.fromkeys(
            name for _, guard, _ in rows for name in _names_in_order(guard)
        )
        return Automaton.from_edges(
            [number[here] for here, _, _ in rows],
            [guard for _, guard, _ in rows],
            [number[place] for _, _, place in rows],
            num_states=len(order),
            initial=number[start],
            propositions=names,
            accepting=[place == _END or place in named for place in order],
        )

    def _target(self, option: _Option) -> int:
        if option.label is None:
            return self._settle(option.place)
        return self._settle(self._place(option.label))

    def _place(self, label: Token) -> int:
        if label.text not in self._labels:
            self._tokens.refuse(f"there is no label {quoted(label.text)}", label)
        return self._labels[label.text]

    def _settle(self, place: int) -> int:
        """The statement in which a place really is: behind jumps, or at the end."""
        seen: dict[int, None] = {}
        while place in self._jumps and place not in self._settled:
            if place in seen:
                self._tokens.refuse("its jumps form a cycle", self._jumps[place])
            seen[place] = None
            place = self._place(self._jumps[place])
        place = self._settled.get(place, place)
        self._settled |= dict.fromkeys(seen, place)
        return _END if place >= len(self._statements) else place


def _names_in_order(formula: Formula) -> list[str]:
    return [x.name for x in formula.parts() if x.operator == "name"]
