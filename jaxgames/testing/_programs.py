"""Programs in PRISM's language, against an interpreter that goes from state to state.

A case is made of numbers and names, printed as a program for the parser; the
interpreter never sees that text. It looks at one state at a time, in fractions.
"""

import dataclasses
import itertools
import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from jaxgames import mdp
from jaxgames.testing._subject import Check, Complaint, Subject, each

SIZE = 3
"""Modules of a program at most."""

Node = tuple
"""An expression: `("is", value)`, `("of", name)`, or an operator and its operands."""

RANKS = {
    **{"?": 0, "=>": 1, "<=>": 2, "|": 3, "&": 4, "!": 5, "=": 6, "!=": 6, "<": 7},
    **{"<=": 7, ">": 7, ">=": 7, "+": 8, "-": 8, "*": 9, "/": 9},
}
"""How tightly operators bind, as the manual of PRISM lists them."""


@dataclasses.dataclass(frozen=True)
class Command:
    """An action, a guard, and pairs of a probability and of new values by name."""

    action: str
    guard: Node
    updates: tuple[tuple[Node, tuple[tuple[str, Node], ...]], ...]


@dataclasses.dataclass(frozen=True)
class Module:
    """Variables `(name, low, high, first)`, bounds None for a bool, and commands.

    If `like` is a pair, it is printed as the module of that number under other names.
    """

    variables: tuple[tuple[str, int | None, int | None, Any], ...]
    commands: tuple[Command, ...]
    like: tuple[int, tuple[tuple[str, str], ...]] | None = None


@dataclasses.dataclass(frozen=True)
class Case:
    """A program: what its parts are is as in the manual.

    Attributes:
        kind: `dtmc`, `mdp` or `ctmc`.
        constants: name, value and whether it is passed to `build`.
        formulas: by name.
        shared: variables of no module.
        modules: in order.
        labels: by name.
        rewards: name, and `(action or None, guard, value)`.
        start: which states are initial, or None.
        system: a tree of `("module", i)`, `("||", a, b)`, `("|||", a, b)`,
            `("|[", actions, a, b)`, `("hide", actions, a)`, `("as", old, new, a)`.
    """

    kind: str
    constants: tuple[tuple[str, int, bool], ...]
    formulas: tuple[tuple[str, Node], ...]
    shared: tuple[tuple[str, int | None, int | None, Any], ...]
    modules: tuple[Module, ...]
    labels: tuple[tuple[str, Node], ...]
    rewards: tuple[tuple[str, tuple[tuple[str | None, Node, Node], ...]], ...]
    start: Node | None
    system: tuple | None


# ---- printing ------------------------------------------------------------------------


def text_of(node: Node, rank: int = -1) -> str:
    """An expression in PRISM's language, with no more parentheses than needed."""
    sign = node[0]
    if sign == "is":
        value = node[1]
        if isinstance(value, bool):
            return str(value).lower()
        whole = Fraction(value)
        if whole.denominator > 1:
            return f"({whole.numerator}/{whole.denominator})"
        return str(value) if value >= 0 else f"({value})"
    if sign == "of":
        return node[1]
    if sign in ("min", "max", "mod", "floor", "ceil", "pow", "round"):
        return f"{sign}({', '.join(text_of(x) for x in node[1:])})"
    own = RANKS[sign]
    if sign == "?":
        test, yes, no = (text_of(x, 1) for x in node[1:])
        made = f"{test} ? {yes} : {no}"
    elif sign == "!":
        made = f"!{text_of(node[1], own)}"
    else:
        left = own + (sign == "=>")  # on which tools do not agree
        made = f"{text_of(node[1], left)} {sign} {text_of(node[2], own + 1)}"
    return f"({made})" if own < rank else made


def program_of(case: Case) -> str:
    lines = [case.kind]
    for name, value, given in case.constants:
        lines.append(f"const int {name};" if given else f"const int {name} = {value};")
    lines += [f"formula {name} = {text_of(node)};" for name, node in case.formulas]
    lines += [f"global {_declared(x)}" for x in case.shared]
    for number, module in enumerate(case.modules):
        if module.like is not None:
            base, names = module.like
            pairs = ", ".join(f"{old}={new}" for old, new in names)
            lines.append(f"module m{number} = m{base} [{pairs}] endmodule")
            continue
        lines.append(f"module m{number}")
        lines += [f"  {_declared(x)}" for x in module.variables]
        lines += [f"  {_commanded(x)}" for x in module.commands]
        lines.append("endmodule")
    lines += [f'label "{name}" = {text_of(node)};' for name, node in case.labels]
    for name, items in case.rewards:
        lines.append(f'rewards "{name}"')
        for action, guard, value in items:
            where = "" if action is None else f"[{action}] "
            lines.append(f"  {where}{text_of(guard)} : {text_of(value)};")
        lines.append("endrewards")
    if case.start is not None:
        lines.append(f"init {text_of(case.start)} endinit")
    if case.system is not None:
        lines.append(f"system {_composed(case.system)} endsystem")
    return "\n".join(lines)


def _declared(variable: tuple) -> str:
    name, low, high, first = variable
    kind = "bool" if low is None else f"[{low}..{high}]"
    start = "" if first is None else f" init {str(first).lower()}"
    return f"{name} : {kind}{start};"


def _commanded(command: Command) -> str:
    updates = []
    for probability, changes in command.updates:
        does = " & ".join(f"({name}'={text_of(x)})" for name, x in changes) or "true"
        updates.append(f"{text_of(probability)} : {does}")
    guard = text_of(command.guard)
    return f"[{command.action}] {guard} -> {' + '.join(updates)};"


def _composed(node: tuple) -> str:
    kind = node[0]
    if kind == "module":
        return f"m{node[1]}"
    if kind == "hide":
        return f"({_composed(node[2])}) / {{{', '.join(node[1])}}}"
    if kind == "as":
        return f"({_composed(node[3])}) {{{node[1]} <- {node[2]}}}"
    one, other = (f"({_composed(x)})" for x in node[-2:])
    sign = f"|[{', '.join(node[1])}]|" if kind == "|[" else kind
    return f"{one} {sign} {other}"


# ---- the interpreter -----------------------------------------------------------------


def value_of(node: Node, state: dict[str, Any]) -> Any:
    """An expression in a state: an integer, a fraction, or a truth value."""
    sign = node[0]
    if sign == "is":
        return node[1]
    if sign == "of":
        found = state[node[1]]
        return value_of(found, state) if isinstance(found, tuple) else found
    if sign == "?":
        return value_of(node[2] if value_of(node[1], state) else node[3], state)
    parts = [value_of(x, state) for x in node[1:]]
    one, other = parts[0], parts[-1]
    table = {
        **{"+": lambda: one + other, "-": lambda: one - other},
        **{"*": lambda: one * other, "/": lambda: Fraction(one) / other},
        **{"!": lambda: not one, "&": lambda: one and other},
        **{"|": lambda: one or other, "=>": lambda: (not one) or other},
        **{"<=>": lambda: one == other, "=": lambda: one == other},
        **{"!=": lambda: one != other, "<": lambda: one < other},
        **{"<=": lambda: one <= other, ">": lambda: one > other},
        **{">=": lambda: one >= other, "min": lambda: min(parts)},
        **{"max": lambda: max(parts), "mod": lambda: one % other},
        **{"floor": lambda: math.floor(one), "ceil": lambda: math.ceil(one)},
        **{
            "pow": lambda: one**other,
            "round": lambda: math.floor(one + Fraction(1, 2)),
        },
    }
    return table[sign]()


class Interpreter:
    """A case, one state after the other."""

    def __init__(self, case: Case):
        self.case = case
        self.fixed: dict[str, Any] = {name: value for name, value, _ in case.constants}
        self.fixed |= dict(case.formulas)
        self.variables = [*case.shared]
        for module in case.modules:
            self.variables += module.variables
        self.names = [variable[0] for variable in self.variables]
        parts: list[tuple] = [("module", i) for i in range(len(case.modules))]
        whole: tuple = parts[0]
        for part in parts[1:]:
            whole = ("||", whole, part)
        self.system = whole if case.system is None else case.system

    def at(self, state: tuple) -> dict[str, Any]:
        """What names mean in a state."""
        return self.fixed | dict(zip(self.names, state, strict=True))

    def starts(self) -> list[tuple]:
        """The initial states."""
        if self.case.start is None:
            return [tuple(_first(variable) for variable in self.variables)]
        ranges = [
            (False, True) if low is None else range(low, (high or 0) + 1)
            for _, low, high, _ in self.variables
        ]
        every = itertools.product(*ranges)
        return [x for x in every if value_of(self.case.start, self.at(x))]

    def alphabet(self, node: tuple) -> set[str]:
        """The actions that a part may name."""
        kind = node[0]
        if kind == "module":
            return {x.action for x in self.case.modules[node[1]].commands} - {""}
        if kind == "hide":
            return self.alphabet(node[2]) - set(node[1])
        if kind == "as":
            return {node[2] if x == node[1] else x for x in self.alphabet(node[3])}
        return self.alphabet(node[-2]) | self.alphabet(node[-1])

    def moves(self, node: tuple, names: dict[str, Any]) -> list[tuple[str, list]]:
        """What a part can do: an action, and pairs of a weight and of new values."""
        kind = node[0]
        if kind == "module":
            found = []
            for command in self.case.modules[node[1]].commands:
                if value_of(command.guard, names):
                    outcomes = [
                        (
                            Fraction(value_of(weight, names)),
                            {name: value_of(x, names) for name, x in changes},
                        )
                        for weight, changes in command.updates
                    ]
                    found.append((command.action, outcomes))
            return found
        if kind == "hide":
            return [
                ("" if action in node[1] else action, outcomes)
                for action, outcomes in self.moves(node[2], names)
            ]
        if kind == "as":
            return [
                (node[2] if action == node[1] else action, outcomes)
                for action, outcomes in self.moves(node[3], names)
            ]
        one, other = node[-2], node[-1]
        both = set(node[1]) if kind == "|[" else set()
        if kind == "||":
            both = self.alphabet(one) & self.alphabet(other)
        mine, theirs = self.moves(one, names), self.moves(other, names)
        found = [x for x in [*mine, *theirs] if x[0] not in both]
        for (a, first), (b, second) in itertools.product(mine, theirs):
            if a == b and a in both:
                found.append(
                    (
                        a,
                        [
                            (p * q, x | y)
                            for (p, x), (q, y) in itertools.product(first, second)
                        ],
                    )
                )
        return found

    def after(self, state: tuple) -> list[tuple[str, dict[tuple, Fraction]]]:
        """The choices of a state: an action, and weights of states."""
        found = []
        for action, outcomes in self.moves(self.system, self.at(state)):
            weights: dict[tuple, Fraction] = {}
            for weight, changes in outcomes:
                if weight:
                    new = tuple(
                        changes.get(name, old)
                        for name, old in zip(self.names, state, strict=True)
                    )
                    weights[new] = weights.get(new, Fraction(0)) + weight
            if weights:
                found.append((action, weights))
        return found


def _first(variable: tuple) -> Any:
    _, low, _, first = variable
    if first is not None:
        return first
    return False if low is None else low


# ---- comparing -----------------------------------------------------------------------


def _compared(case: Case, engine: str) -> Complaint:
    """What a built model has that is not so, or None."""
    program = mdp.Program.parse(program_of(case))
    model = program.build(
        constants={name: value for name, value, given in case.constants if given},
        engine=engine,  # pyright: ignore[reportArgumentType]
    )
    judge = Interpreter(case)
    values = [(model.valuations or {})[name].tolist() for name in judge.names]
    states = list(zip(*values, strict=True))
    number = {state: i for i, state in enumerate(states)}
    if len(number) < len(states):
        return "a state is given twice"
    if states != sorted(states):
        return "states are out of order"
    starts = judge.starts()
    if sorted(number.get(x, -1) for x in starts) != list(np.asarray(model.initial)):
        return f"initial are {model.initial}, expected {starts}"
    seen, queue = set(starts), list(starts)
    for state in queue:
        if state not in number:
            return f"{state} is missing"
        choices = judge.after(state)
        for _, weights in choices:
            for new in weights:
                if new not in seen:
                    seen.add(new)
                    queue.append(new)
        wrong = _of_state(case, judge, model, number, state, choices)
        if wrong:
            return f"{state}: {wrong}"
    if len(seen) < len(states):
        return f"{len(states)} states, of which {len(seen)} can be reached"
    return None


def _of_state(case, judge, model, number, state, choices) -> Complaint:
    at = number[state]
    names = judge.at(state)
    if ("deadlock" in (model.labels or {})) and (
        bool(model.labels["deadlock"][at]) != (not choices)
    ):
        return "a deadlock is told wrong"
    for name, node in case.labels:
        if bool(model.labels[name][at]) != value_of(node, names):
            return f"label {name} is wrong"
    expected = [(action, weights) for action, weights in choices]
    shares = [(action, Fraction(1)) for action, _ in choices]
    total = Fraction(1)
    if case.kind != "mdp" and choices:
        sums = [sum(weights.values()) for _, weights in choices]
        total = sum(sums) if case.kind == "ctmc" else Fraction(len(choices))
        merged: dict[tuple, Fraction] = {}
        for _, weights in choices:
            for new, weight in weights.items():
                merged[new] = merged.get(new, Fraction(0)) + weight / total
        expected = [("", merged)]
        parts = sums if case.kind == "ctmc" else [Fraction(1)] * len(choices)
        shares = [
            (action, part / total)
            for (action, _), part in zip(choices, parts, strict=True)
        ]
    if not choices:
        expected, shares = [("", {state: Fraction(1)})], []
    if case.kind == "ctmc" and not _near(model.exit_rates[at], total):
        return f"is left at rate {model.exit_rates[at]}, expected {total}"
    first, last = model.row_group_offsets[at : at + 2]
    found = []
    for choice in range(first, last):
        begin, end = model.row_offsets[choice : choice + 2]
        own = [x for x, mask in (model.choice_labels or {}).items() if mask[choice]]
        row = dict(
            zip(
                model.columns[begin:end].tolist(),
                model.probs[begin:end].tolist(),
                strict=True,
            )
        )
        if len(row) < end - begin:
            return "two branches of a choice lead to one state"
        found.append((own[0] if own and case.kind == "mdp" else "", row))
    wanted = [
        (action, {number[x]: weight for x, weight in weights.items()})
        for action, weights in expected
    ]
    if not _same(found, wanted):
        return f"has choices {found}, expected {wanted}"
    return _rewarded(case, model, at, names, shares)


def _rewarded(case, model, at: int, names, shares) -> Complaint:
    for name, items in case.rewards:
        of_state = sum(
            Fraction(value_of(value, names))
            for action, guard, value in items
            if action is None and value_of(guard, names)
        )
        have = (model.state_rewards or {}).get(name)
        if not _near(0.0 if have is None else have[at], of_state):
            return f"earns {have}, expected {of_state}"
        each_earns = [
            sum(
                share * Fraction(value_of(value, names))
                for action, guard, value in items
                if action == own and value_of(guard, names)
            )
            for own, share in shares
        ] or [Fraction(0)]
        if case.kind != "mdp":
            each_earns = [sum(each_earns, Fraction(0))]
        have = (model.choice_rewards or {}).get(name)
        first, last = model.row_group_offsets[at : at + 2]
        paid = [0.0] * (last - first) if have is None else have[first:last].tolist()
        if not all(map(_near, sorted(paid), sorted(each_earns))):
            return f"choices earn {paid}, expected {each_earns}"
    return None


def _same(found: list, wanted: list) -> bool:
    """Whether the same choices are there, whatever their order."""
    if len(found) != len(wanted):
        return False
    left = list(wanted)
    for action, row in found:
        fits = [
            i
            for i, (other, weights) in enumerate(left)
            if other == action
            and row.keys() == weights.keys()
            and all(_near(row[x], weights[x]) for x in row)
        ]
        if not fits:
            return False
        del left[fits[0]]
    return True


def _near(found: Any, wanted: Any) -> bool:
    return abs(float(found) - float(wanted)) <= 1e-12 * max(1.0, abs(float(wanted)))


# ---- drawing -------------------------------------------------------------------------


class _Drawn:
    """A case in the making."""

    def __init__(self, rng: np.random.Generator, size: int):
        self.rng = rng
        self.numbers: list[tuple[str, int, int]] = []
        self.truths: list[str] = []
        self.size = size

    def maybe(self, chance: float) -> bool:
        return bool(self.rng.random() < chance)

    def one(self, *options: Any) -> Any:
        return options[int(self.rng.integers(len(options)))]

    def whole(self, depth: int = 2) -> Node:
        if depth == 0 or self.maybe(0.4):
            if self.numbers and self.maybe(0.7):
                return ("of", self.one(*self.numbers)[0])
            return ("is", int(self.rng.integers(-2, 4)))
        sign = self.one("+", "-", "*", "min", "max", "?", "mod", "floor", "round")
        if sign == "?":
            return ("?", self.truth(depth - 1), *(self.whole(depth - 1) for _ in "ab"))
        if sign == "mod":
            return ("mod", self.whole(depth - 1), ("is", int(self.rng.integers(2, 5))))
        if sign in ("floor", "round"):
            return (sign, ("/", self.whole(depth - 1), ("is", self.one(2, 4))))
        return (sign, self.whole(depth - 1), self.whole(depth - 1))

    def truth(self, depth: int = 2) -> Node:
        if depth == 0 or self.maybe(0.2):
            if self.truths and self.maybe(0.6):
                return ("of", self.one(*self.truths))
            return ("is", self.maybe(0.8))
        if self.maybe(0.55):
            sign = self.one("=", "!=", "<", "<=", ">", ">=")
            return (sign, self.whole(depth - 1), self.whole(depth - 1))
        sign = self.one("!", "&", "|", "=>", "<=>")
        count = 1 if sign == "!" else 2
        return (sign, *(self.truth(depth - 1) for _ in range(count)))

    def variable(self, name: str) -> tuple:
        if self.maybe(0.3):
            self.truths.append(name)
            return name, None, None, self.one(None, True, False)
        low = int(self.rng.integers(-1, 2))
        high = low + int(self.rng.integers(0, 4))
        self.numbers.append((name, low, high))
        first = int(self.rng.integers(low, high + 1)) if self.maybe(0.6) else None
        return name, low, high, first

    def change(self, variable: tuple) -> tuple[str, Node]:
        name, low, high, _ = variable
        if low is None:
            return name, self.truth()
        if self.maybe(0.3):
            return name, ("is", int(self.rng.integers(low, high + 1)))
        return name, ("min", ("is", high), ("max", ("is", low), self.whole()))

    def command(self, kind: str, own: list, shared: list) -> Command:
        action = self.one("", "", "a", "b")
        may = [*own, *shared] if action == "" else own
        weights: list[Node] = [("is", 1)]
        count = int(self.rng.integers(1, 4))
        if kind == "ctmc":
            weights = [
                self.one(("is", Fraction(int(self.rng.integers(0, 9)), 4)), ("is", 2))
                for _ in range(count)
            ]
        elif count > 1 and self.numbers and self.maybe(0.4):
            name, low, high = self.one(*self.numbers)
            part = ("/", ("-", ("of", name), ("is", low)), ("is", high - low + 1))
            weights = [part, ("-", ("is", 1), part)]
        elif count > 1:
            cuts = sorted(self.rng.integers(0, 9, count - 1).tolist())
            ends = [0, *cuts, 8]
            weights = [("is", Fraction(b - a, 8)) for a, b in itertools.pairwise(ends)]
        updates = []
        for weight in weights:
            some = [x for x in may if self.maybe(0.7)]
            updates.append((weight, tuple(self.change(x) for x in some)))
        return Command(action, self.truth(), tuple(updates))


def _draw(rng: np.random.Generator, index: int, size: int) -> Case:
    """A program, most often of few states."""
    drawn = _Drawn(rng, size)
    kind = drawn.one("dtmc", "mdp", "ctmc")
    constants = (("N", int(rng.integers(1, 4)), drawn.maybe(0.5)),)
    drawn.numbers.append(("N", 1, 3))
    shared = [drawn.variable("g")] if drawn.maybe(0.25) else []
    count = int(rng.integers(1, size + 1))
    owned = [
        [drawn.variable(f"x{i}{j}") for j in range(int(rng.integers(0 if i else 1, 3)))]
        for i in range(count)
    ]
    formulas = []
    if drawn.maybe(0.5):
        formulas.append(("f", drawn.truth(2)))
        drawn.truths.append("f")
    if drawn.maybe(0.3):
        formulas.append(("h", drawn.whole(2)))
    modules = [
        Module(
            tuple(own),
            tuple(
                drawn.command(kind, own, shared) for _ in range(int(rng.integers(1, 5)))
            ),
        )
        for own in owned
    ]
    if count < size and drawn.maybe(0.4):
        modules.append(_renamed(drawn, modules[0], dict(formulas)))
    labels = (("good", drawn.truth()), ("odd", drawn.truth(3)))
    rewards = []
    known = {x.action for module in modules for x in module.commands}
    for name in ("r", "s")[: int(rng.integers(0, 3))]:
        items = tuple(
            (
                drawn.one(None, *sorted(known)),
                drawn.truth(),
                ("max", ("is", 0), drawn.whole()),
            )
            for _ in range(int(rng.integers(1, 4)))
        )
        rewards.append((name, items))
    case = Case(
        *(kind, constants, tuple(formulas), tuple(shared), tuple(modules), labels),
        *(tuple(rewards), None, None),
    )
    if drawn.maybe(0.3):
        case = dataclasses.replace(case, system=_system(drawn, case))
        left = Interpreter(case).alphabet(case.system or ()) | {""}
        case = dataclasses.replace(
            case,
            rewards=tuple(
                (name, tuple(x for x in items if x[0] is None or x[0] in left))
                for name, items in case.rewards
            ),
        )
    if drawn.maybe(0.25):
        start = drawn.truth(3)
        plain = dataclasses.replace(
            case,
            start=start,
            shared=tuple((*x[:3], None) for x in case.shared),
            modules=tuple(
                dataclasses.replace(
                    m, variables=tuple((*x[:3], None) for x in m.variables)
                )
                for m in case.modules
            ),
        )
        if Interpreter(plain).starts():
            case = plain
    return case


def _renamed(drawn: _Drawn, base: Module, formulas: dict[str, Node]) -> Module:
    names = {x[0]: f"{x[0]}r" for x in base.variables}
    if drawn.maybe(0.5) and any(x.action == "a" for x in base.commands):
        names["a"] = "b"

    def new(node: Any) -> Any:
        if node[0] == "of":
            if node[1] in formulas:  # formulas are put in before names change
                return new(formulas[node[1]])
            return ("of", names.get(node[1], node[1]))
        if node[0] == "is":
            return node
        return (node[0], *(new(x) for x in node[1:]))

    commands = tuple(
        Command(
            names.get(x.action, x.action),
            new(x.guard),
            tuple(
                (new(p), tuple((names.get(v, v), new(e)) for v, e in changes))
                for p, changes in x.updates
            ),
        )
        for x in base.commands
    )
    variables = tuple((names[x[0]], *x[1:]) for x in base.variables)
    return Module(variables, commands, (0, tuple(names.items())))


def _system(drawn: _Drawn, case: Case) -> tuple:
    judge = Interpreter(dataclasses.replace(case, system=None))
    parts: list[tuple] = [("module", i) for i in range(len(case.modules))]
    for at, part in enumerate(parts):
        if "a" in judge.alphabet(part) and drawn.maybe(0.3):
            parts[at] = drawn.one(("hide", ("a",), part), ("as", "a", "c", part))
    while len(parts) > 1:
        one, other = parts.pop(0), parts.pop(0)
        both = sorted(judge.alphabet(one) & judge.alphabet(other))
        made = drawn.one(
            ("||", one, other), ("|||", one, other), ("|[", tuple(both[:1]), one, other)
        )
        parts.insert(int(drawn.rng.integers(len(parts) + 1)), made)
    return parts[0]


def _smaller(case: Case) -> Iterable[Case]:
    """Cases with less in them."""
    if case.system is not None:
        yield dataclasses.replace(case, system=None)
    if case.start is not None:
        yield dataclasses.replace(case, start=None)
    for at in range(len(case.rewards)):
        yield dataclasses.replace(
            case, rewards=case.rewards[:at] + case.rewards[at + 1 :]
        )
    for at, module in enumerate(case.modules):
        if module.like is not None:
            yield dataclasses.replace(
                case, modules=case.modules[:at] + case.modules[at + 1 :], system=None
            )
            continue
        if any(x.like is not None for x in case.modules):
            continue
        for which in range(len(module.commands)):
            less = module.commands[:which] + module.commands[which + 1 :]
            changed = dataclasses.replace(module, commands=less)
            yield dataclasses.replace(
                case,
                modules=(*case.modules[:at], changed, *case.modules[at + 1 :]),
                rewards=(),
                system=None,
            )


def _show(case: Case) -> str:
    given = {name: value for name, value, passed in case.constants if passed}
    return (
        f"program = mdp.Program.parse('''\n{program_of(case)}\n''')\n"
        f"model = program.build(constants={given})"
    )


def of_engine(engine: str) -> Check:
    """What an engine builds."""
    return each(lambda case: _compared(case, engine))


def subject() -> Subject:
    """Programs in PRISM's language."""
    return Subject(
        name="programs",
        draw=_draw,
        checks={"host": of_engine("host")},
        smaller=_smaller,
        show=_show,
        size=SIZE,
        batch=20,
    )
