"""The parser of programs: that of properties, with what stands around expressions."""

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

from jaxgames.mdp._property import Constant, Name, PropertyError
from jaxgames.mdp._property_parser import OPERATOR, Parser
from jaxgames.mdp.program._tree import (
    KINDS,
    Assignment,
    Command,
    Composed,
    Declared,
    Module,
    Part,
    Relabelled,
    Renamed,
    Reward,
    Rewards,
    Source,
    Update,
    Variable,
)
from jaxgames.quoting import guess, quoted

_OTHER_KINDS = {
    **{"pta": "timed automata", "popta": "timed automata"},
    **{"pomdp": "partial observation", "smg": "games", "csg": "games"},
    **{"imdp": "intervals", "idtmc": "intervals", "ma": "Markov automata"},
}
"""What other programs than ours begin with."""

_REFUSED = {
    **{word: f"{x}; a dtmc, a ctmc or an mdp is" for word, x in _OTHER_KINDS.items()},
    **{"clock": "clocks", "invariant": "clocks", "observables": "observables"},
    **{"player": "games"},
}
"""What other programs begin with or have."""

KEYWORDS = {
    *(*KINDS, *_REFUSED, "const", "int", "double", "bool", "rate", "prob", "formula"),
    *("label", "global", "module", "endmodule", "rewards", "endrewards", "init"),
    *("endinit", "system", "endsystem", "true", "false", "filter", "func", "min"),
    *("max", "A", "C", "E", "F", "G", "I", "P", "R", "S", "U", "W", "X"),
    *("Pmin", "Pmax", "Rmin", "Rmax"),
}
"""Words that are no names."""

_TYPES = {"int": "int", "double": "double", "bool": "bool"}
_TYPES |= {"rate": "double", "prob": "double"}


def parse(text: str) -> Source:
    """Reads a program.

    Raises:
        PropertyError: telling line and column, what was expected and what was found.
    """
    return ProgramParser(text).read(ProgramParser.program)


class ProgramParser(Parser):
    """What each method reads, it names."""

    def program(self) -> Source:
        self._kind: str | None = None
        self._constants: dict[str, Declared] = {}
        self._formulas: dict[str, Any] = {}
        self._labels: dict[str, Any] = {}
        self._globals: list[Variable] = []
        self._modules: dict[str, Module | Renamed] = {}
        self._rewards: dict[str, Rewards] = {}
        self._start: Any = None
        self._system: Any = None
        known: dict[str, Callable[[], None]] = {
            **dict.fromkeys(KINDS, self._header),
            **{"const": self._declaration, "formula": self._named},
            **{"label": self._named, "global": self._global},
            **{"module": self._module, "rewards": self._reward_structure},
            **{"init": self._starts, "system": self._composition},
            **dict.fromkeys(("rate", "prob"), self._declaration),
        }
        while self._next.kind != "end":
            token = self._next
            if token.kind == "word" and token.text in _REFUSED:
                self._refuse(token.place, _REFUSED[token.text])
            if token.kind != "word" or token.text not in known:
                meant = guess(token.text, known) if token.kind == "word" else ""
                self._fail(f"a declaration, such as module or const{meant}")
            known[token.text]()
        if not self._modules:
            self._fail("a module")
        return Source(
            kind=self._kind or "mdp",
            constants=tuple(self._constants.values()),
            formulas=self._formulas,
            labels=self._labels,
            globals=tuple(self._globals),
            modules=tuple(self._modules.values()),
            rewards=tuple(self._rewards.values()),
            start=self._start,
            system=self._system,
        )

    # ---- declarations ----------------------------------------------------------------

    def _header(self) -> None:
        token = self._take()
        if self._kind is not None:
            raise PropertyError(token.place, "the program names its type twice")
        self._kind = KINDS[token.text]

    def _once(self, name: str, place: Any, known: Iterable[str], what: str) -> None:
        if name in known:
            raise PropertyError(place, f"{what} {quoted(name)} is given twice")

    def _declaration(self) -> None:
        self._took("const")
        kind = "int"
        if self._is(*_TYPES):
            kind = _TYPES[self._take().text]
        place = self._next.place
        name = self._name("a constant")
        self._once(name, place, self._constants, "the constant")
        value = self._formula() if self._took("=") else None
        self._expect(";")
        self._constants[name] = Declared(name, kind, value, place=place)

    def _named(self) -> None:
        """A formula or a label."""
        is_formula = self._take().text == "formula"
        place = self._next.place
        if is_formula:
            name, known, what = self._name("a formula"), self._formulas, "the formula"
        else:
            name = self._quoted("the name of a label in quotes")
            known, what = self._labels, "the label"
        self._once(name, place, known, what)
        self._expect("=")
        known[name] = self._formula()
        self._expect(";")

    def _global(self) -> None:
        self._take()
        self._globals.append(self._variable())

    def _variable(self) -> Variable:
        place = self._next.place
        name = self._name("a variable")
        self._expect(":")
        low = high = None
        if self._took("["):
            low = self._sum()
            self._expect("..")
            high = self._sum()
            self._expect("]")
        elif self._is("int", "clock"):
            self._refuse(self._next.place, "variables without bounds")
        elif not self._took("bool"):
            self._fail("a range, such as [0..3], or bool")
        initial = self._formula() if self._took("init") else None
        self._expect(";")
        return Variable(name, low, high, initial, place=place)

    def _starts(self) -> None:
        token = self._take()
        if self._start is not None:
            raise PropertyError(token.place, "initial states are given twice")
        self._start = self._formula()
        self._expect("endinit")

    # ---- modules ---------------------------------------------------------------------

    def _module(self) -> None:
        self._take()
        place = self._next.place
        name = self._name("a module")
        self._once(name, place, self._modules, "the module")
        if self._took("="):
            base = self._name("a module")
            self._expect("[")
            names = self._renaming(
                *("]", lambda: self._name("what is renamed")),
                *(lambda: self._name("the new name"), "="),
            )
            self._expect("endmodule")
            self._modules[name] = Renamed(name, base, names, place=place)
            return
        variables, commands = [], []
        while not self._is("endmodule", "["):
            if self._is("invariant"):
                self._refuse(self._next.place, "clocks")
            variables.append(self._variable())
        while self._is("["):
            commands.append(self._command())
        self._expect("endmodule")
        self._modules[name] = Module(
            name, tuple(variables), tuple(commands), place=place
        )

    def _renaming(self, end: str, read_old, read_new, *signs: str) -> dict[str, str]:
        """New names by old ones, with signs between them, up to another sign."""
        names: dict[str, str] = {}
        while True:
            place = self._next.place
            old = read_old()
            self._once(old, place, names, "the new name of")
            for sign in signs:
                self._expect(sign)
            names[old] = read_new()
            if not self._took(","):
                break
        self._expect(end)
        return names

    def _command(self) -> Command:
        place = self._expect("[").place
        action = "" if self._is("]") else self._action()
        self._expect("]")
        guard = self._formula()
        self._expect("->")
        updates = [self._update()]
        while self._took("+"):
            updates.append(self._update())
        self._expect(";")
        return Command(action, guard, tuple(updates), place=place)

    def _update(self) -> Update:
        place = self._next.place
        if self._is("["):
            self._refuse(place, "intervals of probabilities")
        probability: Any = Constant(Fraction(1), place=place)
        if not self._begins_assignments():
            probability = self._formula()
            self._expect(":")
        assignments: list[Assignment] = []
        if not self._took("true"):
            assignments.append(self._assignment())
            while self._took("&"):
                assignments.append(self._assignment())
        return Update(probability, tuple(assignments), place=place)

    def _begins_assignments(self) -> bool:
        if self._is("true"):
            return self._after().text in ("+", ";")
        return self._is("(") and self._after().text.endswith("'")

    def _assignment(self) -> Assignment:
        self._expect("(")
        token = self._next
        if token.kind != "word" or not token.text.endswith("'"):
            self._fail("what a variable becomes, such as (x'=x+1)")
        self._take()
        self._expect("=")
        value = self._formula()
        self._expect(")")
        return Assignment(token.text[:-1], value, place=token.place)

    # ---- rewards ---------------------------------------------------------------------

    def _reward_structure(self) -> None:
        place = self._take().place
        name = ""
        if self._next.kind == "quoted":
            name = self._take().text[1:-1]
        if not name and name in self._rewards:
            name = str(len(self._rewards) + 1)  # as properties call it: R{2}
        self._once(name, place, self._rewards, "the reward structure")
        items = []
        while not self._is("endrewards"):
            at = self._next.place
            action = None
            if self._took("["):
                action = "" if self._is("]") else self._action()
                self._expect("]")
            guard = self._formula()
            self._expect(":")
            value = self._formula()
            self._expect(";")
            items.append(Reward(action, guard, value, place=at))
        self._take()
        self._rewards[name] = Rewards(name, tuple(items), place=place)

    # ---- compositions ----------------------------------------------------------------

    def _composition(self) -> None:
        token = self._take()
        if self._system is not None:
            raise PropertyError(token.place, "the system is given twice")
        self._system = self._composed()
        self._expect("endsystem")

    def _composed(self) -> Any:
        """Parts side by side, `||` first, then `|||` and `|[...]|`."""
        self._deeper()
        found = self._side_by_side()
        while self._is("||") and self._after().text == "|":
            place = self._take().place
            self._take()
            found = Composed((found, self._side_by_side()), frozenset(), place=place)
        self._depth -= 1
        return found

    def _side_by_side(self) -> Any:
        """Parts that share all actions, or some."""
        found = self._relabelled()
        while True:
            place = self._next.place
            if self._is("||") and self._after().text != "|":
                self._take()
                found = Composed((found, self._relabelled()), place=place)
            elif self._is("|") and self._after().text == "[":
                self._take()
                self._take()
                shared = self._names("]")
                self._expect("|")
                found = Composed(
                    (found, self._relabelled()), frozenset(shared), place=place
                )
            else:
                return found

    def _relabelled(self) -> Any:
        if self._took("("):
            found = self._composed()
            self._expect(")")
        else:
            place = self._next.place
            found = Part(self._name("a module"), place=place)
        while self._is("/", "{"):
            place = self._next.place
            if self._took("/"):
                self._expect("{")
                hidden = self._names("}")
                found = Relabelled(found, dict.fromkeys(hidden, ""), place=place)
                continue
            self._take()
            names = self._renaming("}", self._action, self._action, "<", "-")
            found = Relabelled(found, names, place=place)
        return found

    def _action(self) -> str:
        """The name of an action, which may be a word that no variable may have."""
        if self._next.kind != "word" or self._next.text[-1] == "'":
            self._fail("the name of an action")
        return self._take().text

    def _names(self, end: str) -> list[str]:
        """Actions up to a sign."""
        found = [] if self._is(end) else [self._action()]
        while self._took(","):
            found.append(self._action())
        self._expect(end)
        return found

    # ---- expressions -----------------------------------------------------------------

    def _name(self, what: str) -> str:
        token = self._next
        if token.kind != "word" or token.text in KEYWORDS or token.text[-1] == "'":
            self._fail(f"the name of {what}", KEYWORDS)
        return self._take().text

    def _word(self) -> Any:
        token = self._next
        if token.text in ("true", "false") or self._after().text == "(":
            if OPERATOR.fullmatch(token.text) or token.text in ("filter", "multi"):
                self._fail("an expression")
            return super()._word()
        return Name(self._name("a variable or a constant"), place=token.place)
