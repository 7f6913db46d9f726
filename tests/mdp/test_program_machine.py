"""The machine that explores programs state by state, against numpy and by hand."""

from typing import Any

import numpy as np
import pytest

from jaxgames import host, mdp
from jaxgames.mdp.program import _code, _explored
from jaxgames.testing import _programs

LATE = 1 << 40

CHAIN = """
dtmc
const int N;
module m
  s : [0..N];
  [] s<N -> 0.5 : (s'=s+1) + 0.5 : (s'=0);
  [] s=N -> true;
endmodule
"""


def begin_with(patch, pieces: int) -> None:
    """Sees to it that the machine begins after so many pieces."""
    patch.setattr(_explored, "PIECES_BY_NUMPY", pieces)
    patch.setattr(_explored, "COMMANDS_BEFORE_LOADING", pieces)
    patch.setattr(_explored, "STATES_BEFORE_LOADING", pieces or LATE)


def explored(program, constants, patch, pieces: int) -> tuple[Any, str | None]:
    """What is found, or what is told of it."""
    begin_with(patch, pieces)
    if pieces:  # what is wrong is told of the first state in which it is
        patch.setattr(_explored, "FIRST_STATES", 1)
        patch.setattr(_explored, "BRANCHES_AT_ONCE", 1)
    try:
        return _explored.explore(program._resolved(constants), 3000), None
    except (mdp.PropertyError, ValueError) as error:
        return None, str(error)


def complaint(text: str, constants=None):
    """How what the machine finds differs from what numpy finds; None if it does not."""
    program = mdp.Program.parse(text)
    with pytest.MonkeyPatch.context() as patch:
        one, told = explored(program, constants, patch, 0)
    with pytest.MonkeyPatch.context() as patch:
        other, also = explored(program, constants, patch, LATE)
    if told != also:
        return told, also
    if one is None or other is None:
        return None
    for name, mine, yours in zip(one._fields, one, other, strict=True):
        mine = mine if isinstance(mine, tuple) else (mine,)
        yours = yours if isinstance(yours, tuple) else (yours,)
        for x, y in zip(mine, yours, strict=True):
            if (x is None) != (y is None):
                return name
            if x is not None and (x.dtype != y.dtype or not np.array_equal(x, y)):
                return name, x, y
    return None


@pytest.fixture
def numpy_pieces(monkeypatch):
    """How many states numpy expanded in each piece."""
    found, by_numpy = [], _explored.expanded

    def counted(program, words):
        found.append(len(words))
        return by_numpy(program, words)

    monkeypatch.setattr(_explored, "expanded", counted)
    return found


needs_compiler = pytest.mark.skipif(not host.can_compile(), reason="no compiler")


@needs_compiler
def test_a_deep_program_is_not_explored_level_by_level(numpy_pieces):
    model = mdp.Program.parse(CHAIN).build(constants={"N": 20_000}, engine="host")
    assert len(numpy_pieces) <= 512
    assert (model.num_states, model.num_branches) == (20_001, 40_001)
    assert model.valuations is not None
    np.testing.assert_array_equal(model.valuations["s"], np.arange(20_001))
    columns = model.columns[:-1].reshape(-1, 2)
    np.testing.assert_array_equal(np.sort(columns), [[0, k + 1] for k in range(20_000)])


@needs_compiler
def test_small_programs_are_left_to_numpy(numpy_pieces, monkeypatch):
    monkeypatch.setattr(_explored, "written", None)
    mdp.Program.parse(CHAIN).build(constants={"N": 2}, engine="host")
    assert numpy_pieces


@needs_compiler
def test_the_loop_is_the_same_as_plain_python(monkeypatch):
    program = mdp.Program.parse(CHAIN)._resolved({"N": 40})
    begin_with(monkeypatch, 0)
    one = _explored.explore(program)
    with host.interpreted():
        other = _explored.explore(program)
    assert one is not None
    assert other is not None
    np.testing.assert_array_equal(one.columns, other.columns)
    np.testing.assert_array_equal(one.words, other.words)


@needs_compiler
@pytest.mark.parametrize(
    ("update", "said"),
    [
        ("true -> (x'=x+1)", "line 3, column 13: x becomes 501 in state (x=500)"),
        ("true -> (x'=x+1-2*floor(x/500))", None),
        (
            "x<500 -> (500-x)/500:(x'=x+1) + x/499:true",
            "line 3, column 1: the probabilities of this command sum up to",
        ),
        ("x<500 -> x/100-2:(x'=x+1)+3-x/100:(x'=x+1)", "a probability is -2 in state"),
        ("x<500 -> 1/(x-400):(x'=x+1)+1-1/(x-400):(x'=x+1)", "probability is -0.0025"),
        ("x<500 -> (x'=x<450?x+1:0-x)", "x becomes -450 in state (x=450)"),
    ],
)
def test_what_is_wrong_is_told_as_by_numpy(update, said, numpy_pieces, monkeypatch):
    text = f"dtmc\nmodule m x:[0..500];\n[] {update};\nendmodule"
    begin_with(monkeypatch, 0)
    if said is None:
        assert mdp.Program.parse(text).build().num_states == 501
        assert not numpy_pieces
    else:
        with pytest.raises(mdp.ProgramError) as error:
            mdp.Program.parse(text).build()
        assert said in str(error.value)
        assert numpy_pieces == [1]
    assert complaint(text) is None


def test_what_no_partner_joins_in_may_be_out_of_range():
    # As Storm has it, and the device: the update of `m` does not happen where x=1.
    text = (
        "mdp module m x:[0..1]; [a] true -> (x'=x+1); endmodule\n"
        "module n y:[0..1]; [a] x=0 -> (y'=1); endmodule"
    )
    model = mdp.Program.parse(text).build(engine="host")
    assert model.labels is not None
    assert model.labels["deadlock"].tolist() == [False, True]
    assert complaint(text) is None


def test_limits_hold_within_the_machine(monkeypatch):
    begin_with(monkeypatch, 0)
    program = mdp.Program.parse(CHAIN)
    with pytest.raises(ValueError, match="more than 100 states"):
        program.build(constants={"N": 1000}, max_states=100)
    assert program.build(constants={"N": 99}, max_states=100).num_states == 100


def test_what_does_not_fit_is_tried_again_with_more_room(monkeypatch):
    begin_with(monkeypatch, 0)
    monkeypatch.setattr(_explored, "BRANCHES_AT_ONCE", 4)
    monkeypatch.setattr(_explored, "FIRST_ROOM", 2)
    monkeypatch.setattr(_explored, "FIRST_STATES", 1)
    ends = " + ".join(f"1/30 : (x'={k})" for k in range(30))
    text = (
        f"mdp module m x:[0..29]; [a] true -> {ends}; endmodule\n"
        "module n = m [x=y] endmodule"
    )
    model = mdp.Program.parse(text).build(engine="host")
    assert (model.num_states, model.num_branches) == (900, 810_000)


@needs_compiler
def test_what_the_machine_does_not_know_is_left_to_numpy(numpy_pieces, monkeypatch):
    begin_with(monkeypatch, 0)
    for guard in ("log(x+1,2)<4", "pow(x,0.5)<3", "-(0*x)/2!=1/(0.5*(x-x)*-1)"):
        text = f"dtmc module m x:[0..9]; [] x<9 & {guard} -> (x'=x+1); endmodule"
        numpy_pieces.clear()
        assert mdp.Program.parse(text).build().num_states == 10
        assert numpy_pieces
        assert complaint(text) is None


class Wild:
    """Texts of programs with all operators, many of which mean nothing somewhere."""

    def __init__(self, seed: int):
        self.rng = np.random.default_rng([22, seed])

    def one(self, *options):
        return options[int(self.rng.integers(len(options)))]

    def whole(self, depth: int) -> str:
        if depth == 0 or self.rng.random() < 0.25:
            return self.one("x", "y", "z", "g", "1", "2", "3", "0", "-2", "f")
        a, b = self.whole(depth - 1), self.whole(depth - 1)
        real = self.real(depth - 1)
        return self.one(
            f"({a}+{b})", f"({a}-{b})", f"({a}*{b})", f"min({a},{b},2)",
            f"max({a},{b})", f"mod({a},{b})", f"floor({real})", f"ceil({real})",
            f"round({real})", f"({self.truth(depth - 1)}?{a}:{b})", f"(-{a})",
            f"pow({a},mod({b},4))",
        )  # fmt: skip

    def real(self, depth: int) -> str:
        if depth == 0 or self.rng.random() < 0.2:
            return self.one("0.5", "1.25", "x", "(z/2)", "-0.75")
        a, b = self.real(depth - 1), self.real(depth - 1)
        return self.one(
            f"({a}+{b})", f"({a}-{b})", f"({a}*{b})", f"({a}/{b})", f"min({a},{b})",
            f"max({a},{b})", f"({self.truth(depth - 1)}?{a}:{b})", f"(-{a})",
            self.whole(depth),
        )  # fmt: skip

    def truth(self, depth: int) -> str:
        if depth == 0 or self.rng.random() < 0.15:
            return self.one("b", "x<2", "y>=1", "z!=1", "g=0", "!b", "2>=x", "true")
        sign = self.one("=", "!=", "<", "<=", ">", ">=")
        if self.rng.random() < 0.5:
            make = self.one(self.whole, self.real)
            return f"({make(depth - 1)}{sign}{make(depth - 1)})"
        a, b = self.truth(depth - 1), self.truth(depth - 1)
        return self.one(
            f"({a}&{b})", f"({a}|{b})", f"({a}=>{b})", f"({a}<=>{b})", f"(!{a})",
            f"({a}={b})", f"({a}!={b})", f"({a}?{b}:{self.truth(depth - 1)})",
        )  # fmt: skip

    def update(self, own, act: str) -> str:
        changes = []
        for name, low, high in own:
            if self.rng.random() < 0.3 or (name == "g" and act):
                continue
            if low is None:
                new = self.truth(2)
            elif self.rng.random() < 0.9:
                new = f"max({low},min({high},{self.whole(3)}))"
            else:
                new = self.one(f"{name}+1", f"{name}-1", self.whole(2))
            changes.append(f"({name}'={new})")
        return "&".join(changes) or "true"

    def command(self, own, kind: str) -> str:
        act = self.one("", "", "a", "c")
        parts = [self.update(own, act) for _ in range(int(self.rng.integers(1, 4)))]
        if len(parts) == 2:
            p = self.one("x/4", "1/(1+z*z)", f"max(0,min(1,{self.real(2)}))", "0.25")
            weights = [p, f"1-{p}" if self.rng.random() < 0.95 else p]
        else:
            weights = [f"1/{len(parts)}"] * len(parts)
        if kind == "ctmc":
            weights = [self.one("2", "0", "0.5*z", "x*x/(y+2)") for _ in parts]
        guard = " & ".join(self.truth(2) for _ in range(int(self.rng.integers(1, 3))))
        ends = " + ".join(f"{w}:{u}" for w, u in zip(weights, parts, strict=True))
        return f"[{act}] {guard} -> {ends};"

    def text(self) -> str:
        kind = self.one("dtmc", "mdp", "ctmc")
        g, x, y = ("g", 0, 2), ("x", 0, 4), ("y", -2, 3)
        many = int(self.rng.integers(2, 6))
        modules = {
            "m": ("x:[0..4]; y:[-2..3] init 1;", [g, x, y]),
            "n": ("z:[0..3]; b:bool;", [g, ("z", 0, 3), ("b", None, None)]),
        }
        lines = [kind, "global g:[0..2];", f"formula f = {self.one('x-z', 'x*y')};"]
        for name, (declared, own) in modules.items():
            some = [self.command(own, kind) for _ in range(many)]
            lines += [f"module {name} {declared}", *some, "endmodule"]
        if self.rng.random() < 0.2:
            lines.append(
                self.one("system m ||| n endsystem", "system m |[a]| n endsystem")
            )
        return "\n".join(lines)


@pytest.mark.parametrize(
    ("guard", "value", "told"),
    [
        ("x>0 & mod(6,x)=0", "x-1", None),
        ("x<=0 | mod(6,x)<9", "max(x-1,-2)", None),
        ("mod(6,x)=0", "x-1", "a guard means nothing in state (x=0)"),
        ("true", "max(x-1-mod(4,x+2),-2)", "the new value of x means nothing"),
    ],
)
def test_the_machine_divides_by_nothing_that_is_not_positive(guard, value, told):
    text = f"mdp module m x:[-2..3] init 3; [] {guard} -> (x'={value}); endmodule"
    assert complaint(text) is None
    with pytest.MonkeyPatch.context() as patch:
        found, said = explored(mdp.Program.parse(text), None, patch, 0)
    assert (said is None) == (told is None) == (found is not None)
    assert (told or "") in (said or "")


def test_wild_programs_are_those_of_numpy():
    built = 0
    for seed in range(150):
        text = Wild(seed).text()
        try:
            mdp.Program.parse(text)._resolved(None)
        except mdp.ProgramError:
            continue
        assert complaint(text) is None, text
        built += _code.written(mdp.Program.parse(text)._resolved(None)) is not None
    assert built > 50


def test_random_programs_by_the_machine(monkeypatch):
    begin_with(monkeypatch, 0)
    for seed in range(60):
        case = _programs._draw(np.random.default_rng([9, seed]), seed, 3)
        assert _programs._compared(case, "host") is None, _programs.program_of(case)
