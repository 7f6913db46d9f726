"""Models in PRISM's language: what is built, and what is told of what cannot be."""

import dataclasses
import gc
import sys
from fractions import Fraction

import jax
import numpy as np
import pytest

from jaxgames import Status, mdp
from jaxgames.mdp._property import Constant, Name, Operation, PropertyError
from jaxgames.mdp.program import _expressions, _program
from jaxgames.solution import SolveError
from jaxgames.testing import _programs

DIE = """
dtmc
module die
  s : [0..7] init 0;  // Knuth and Yao: a die by a coin
  d : [0..6] init 0;
  [] s=0 -> 0.5 : (s'=1) + 0.5 : (s'=2);
  [] s=1 -> 0.5 : (s'=3) + 0.5 : (s'=4);
  [] s=2 -> 0.5 : (s'=5) + 0.5 : (s'=6);
  [] s=3 -> 0.5 : (s'=1) + 0.5 : (s'=7) & (d'=1);
  [] s=4 -> 0.5 : (s'=7) & (d'=2) + 0.5 : (s'=7) & (d'=3);
  [] s=5 -> 0.5 : (s'=7) & (d'=4) + 0.5 : (s'=7) & (d'=5);
  [] s=6 -> 0.5 : (s'=2) + 0.5 : (s'=7) & (d'=6);
  [] s=7 -> (s'=7);
endmodule
label "six" = s=7 & d=6;
rewards "flips" [] s<7 : 1; endrewards
"""

CUBE = """
mdp
const int N;
module a x : [0..N];
  [] x<N -> 0.9 : (x'=x+1) + 0.1 : (x'=0);
  [s] x>0 -> (x'=x-1);
endmodule
module b = a [x=y] endmodule
module c = a [x=z] endmodule
label "top" = x=N & y=N & z=N;
"""


def one(body: str, kind: str = "mdp", **how):
    return mdp.Program.parse(f"{kind}\nmodule m\n{body}\nendmodule").build(**how)


def test_the_die_of_knuth_and_yao():
    model = mdp.Program.parse(DIE).build()
    assert (model.num_states, model.num_branches) == (13, 20)
    assert model.valuations is not None
    assert model.valuations["d"].max() == 6
    assert model.choice_labels is None
    six = mdp.check(model, 'P=? [ F "six" ]', exact=True)
    flips = mdp.check(model, "R=? [ F s=7 ]", exact=True)
    start = int(model.initial[0])
    assert six.exact is not None
    assert flips.exact is not None
    assert (six.exact[start], flips.exact[start]) == (Fraction(1, 6), Fraction(11, 3))


@pytest.mark.parametrize("size", [1, 2, 5])
def test_three_walks_that_share_an_action_have_all_states(size):
    model = mdp.Program.parse(CUBE).build(constants={"N": size})
    assert model.num_states == (size + 1) ** 3
    # By hand: each walk goes up or back, where it is below; all three go down together.
    assert model.num_choices == 3 * size * (size + 1) ** 2 + size**3
    at = {name: column.astype(int) for name, column in (model.valuations or {}).items()}
    assert at["x"][0] == at["y"][0] == 0
    assert (
        np.diff(at["x"] * (size + 1) ** 2 + at["y"] * (size + 1) + at["z"]) == 1
    ).all()
    assert model.labels is not None
    assert list(model.labels) == ["top"]


def test_choices_of_a_chain_are_equally_likely():
    model = one("x:[0..2]; [] x=0 -> (x'=1); [] x=0 -> 1/2:(x'=1)+1/2:(x'=2);", "dtmc")
    assert model.num_choices == 3
    assert model.probs[:2].tolist() == [0.75, 0.25]


def test_deadlocks_stay_where_they_are_or_are_refused():
    body = "x:[0..3] init 1; [] x<3 -> (x'=x+1);"
    model = one(body)
    assert model.labels["deadlock"].tolist() == [False, False, True]
    assert model.successors(2)[0].tolist() == [2]
    with pytest.raises(mdp.ProgramError, match=r"nothing can happen in state \(x=3\)"):
        one(body, deadlocks="error")


def test_what_is_never_so_may_lead_anywhere():
    model = one("x:[0..2]; [] true -> x/2:(x'=0) + 1-x/2:(x'=x+1);")
    assert model.num_states == 3


def test_what_is_renamed_may_be_an_action_of_another_part():
    text = (
        "mdp module m x:[0..1]; [a] x=0 -> (x'=1); endmodule "
        "module n y:[0..1]; [b] y=0 -> (y'=1); endmodule "
        "system m{b<-c} ||| n{b<-c}/{c} endsystem"
    )
    assert mdp.Program.parse(text).build().num_states == 4


def test_initial_states_may_be_several():
    text = "dtmc module m x:[0..9]; [] true -> true; endmodule init x>6 endinit"
    model = mdp.Program.parse(text).build()
    assert model.initial.tolist() == [0, 1, 2]
    assert model.valuations["x"].tolist() == [7, 8, 9]


@pytest.mark.parametrize("kind", ["dtmc", "mdp", "ctmc"])
def test_without_variables_there_is_one_state(kind):
    model = one("[] true -> 2/2 : true;", kind)
    assert (model.num_states, model.columns.tolist()) == (1, [0])
    assert model.valuations is None


def test_many_variables_take_several_words():
    names = [f"x{i}" for i in range(5)]
    wide = "[-2000000000..2000000000]"
    body = "".join(f"{x}:{wide} init {i};" for i, x in enumerate(names))
    model = one(body + "[] x0<3 -> (x0'=x0+1) & (x4'=x4-600000000);", "dtmc")
    assert model.valuations["x0"].tolist() == [0, 1, 2, 3]
    assert model.valuations["x3"].tolist() == [3] * 4
    assert model.valuations["x4"].tolist() == [4 - 600_000_000 * i for i in range(4)]


def test_constants_are_passed_and_follow_from_others():
    program = mdp.Program.parse(
        "mdp const int K; const double p = 1/K; const bool up;\n"
        "module m x:[0..K]; [] up -> p:(x'=K) + 1-p:(x'=0); endmodule"
    )
    assert program.constants == {"K": "int", "up": "bool"}
    assert program.values({"K": 3, "up": True})["p"] == Fraction(1, 3)
    assert program.build(constants={"K": 3, "up": True}).num_states == 2


def test_a_file_is_read_by_its_name(tmp_path):
    path = tmp_path / "die.pm"
    path.write_text(DIE)
    assert mdp.Program.parse(path).build().num_states == 13
    assert mdp.Program.parse(str(path)).file == str(path)
    path.write_text("dtmc\nmodule m\n x : [0..1]\nendmodule")
    with pytest.raises(mdp.ProgramError, match=r"die.pm:4: column 1: expected ';'"):
        mdp.Program.parse(path)


def test_a_search_ends_at_its_limits():
    body = "x:[0..1000000000]; [] x<1000000000 -> (x'=x+1);"
    with pytest.raises(ValueError, match="more than 100 states"):
        one(body, max_states=100)
    with pytest.raises(SolveError) as error:
        one(body, deadline=0.2)
    assert error.value.status == Status.TIMEOUT


MOD_OF = "mod divides by what is not positive"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("[] true -> (x'=mod(3,x));", "column 13: the new value of x means nothing"),
        (
            "[] true -> (x'=mod(3,x-1));",
            "the new value of x means nothing in state (x=",
        ),
        ("[] mod(3,x)=0 -> true;", "column 1: a guard means nothing in state (x=0)"),
        ("[] mod(3,x)=0 & x>0 -> true;", "a guard means nothing in state (x=0)"),
        ("[] true -> mod(1,x):true + 1-mod(1,x):true;", "a probability means nothing"),
        ('endmodule label "l" = mod(3,x)=0; module n', "the label 'l' means nothing"),
        (
            "endmodule rewards x=0 : mod(3,x); endrewards module n",
            "what is earned means",
        ),
        ("endmodule init mod(3,x)=0 endinit module n", "what is initial means nothing"),
    ],
)
def test_mod_by_what_is_not_positive_is_refused(body, said):
    """It was taken for mod by one, or had a sign of its own."""
    with pytest.raises(mdp.ProgramError) as error:
        one(f"x : [0..2];\n{body}")
    assert said in str(error.value)
    assert MOD_OF in str(error.value)


def test_mod_is_not_looked_at_where_something_else_decides():
    """Left before right, as PRISM has it; rests are not negative."""
    model = one(
        "x : [-1..2] init 2;\n"
        "[] x>0 & mod(3,x)=1 -> (x'=x-1);\n"
        "[] x<=0 | mod(3,x)=0 -> (x'=(x>0 ? mod(-5,x+2) : max(x-1,-1)));\n"
        "[] !(x>0 => mod(7,x)>=0) -> 0:(x'=mod(3,-x)) + 1:true;\n"
        "endmodule\n"
        "rewards x>0 : mod(-7,x); endrewards\n"
        "module n"
    )
    assert model.valuations is not None
    assert model.state_rewards is not None
    # From 2 to 1; mod(-5, 3) is 1.
    assert model.valuations["x"].tolist() == [1, 2]
    assert model.columns.tolist() == [0, 0]
    assert model.state_rewards[""].tolist() == [0.0, 1.0]
    with pytest.raises(ValueError, match="no mod by what may be 0"):
        one("x : [0..2]; [] x>0 & mod(3,x)=0 -> (x'=x-1);", engine="device")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "line 1, column 1: expected a module"),
        (
            "module m x:[0..9]; [] true -> (x'=mod(x,0-2)); endmodule",
            "the new value of x means nothing in state (x=0)",
        ),
        ("const int k = mod(3,-2); module m endmodule", "divides by -2, which is not"),
        (
            "module m x:[0..1]; [] y=0 -> true; endmodule",
            "column 23: nothing is called",
        ),
        ("module m x:[0..1]; [] x -> true; endmodule", "a guard must be true or false"),
        (
            "module m x:[0..1]; [] true -> (x'=x+1); endmodule",
            "x becomes 2 in state (x",
        ),
        ("module m x:[0..1]; [] true -> (y'=1); endmodule", "there is no variable 'y'"),
        ("module m x:[0..1]; [] true -> (x'=true); endmodule", "x is of type int"),
        ("module m x:[0..1]; [] true -> (x'=1)&(x'=0); endmodule", "to twice"),
        (
            "module m x:[0..1]; [] true -> 0.5:(x'=1)+0.4:(x'=0); endmodule",
            "sum up to 0.9 in state (x=0), expected 1",
        ),
        (
            "module m x:[0..1]; [] true -> x-1:true+2-x:true; endmodule",
            "is -1 in state",
        ),
        ("module m x:[3..1]; [] true -> true; endmodule", "the range of x is from 3"),
        ("module m x:[0..1] init 2; [] true -> true; endmodule", "out of its range"),
        ("module m x:int; [] true -> true; endmodule", "variables without bounds"),
        ("pta module m endmodule", "not supported: timed automata"),
        ("module m = n [x=y] endmodule", "no module before it is called 'n'"),
        ("const int N; module m x:[0..N]; endmodule", "the constant N has no value"),
        (
            "formula f = f; module m [] f -> true; endmodule",
            "f is defined in terms of itself",
        ),
        ("module m x:[0..1]; endmodule const int x = 1;", "'x' is a constant, too"),
        ("module m [] 1e99999>0 -> true; endmodule", "is too long"),
        ("module m x:[0..9]; [] pow(x,x)*pow(9,99)>1 -> true; endmodule", "64 bits"),
        ("module m x:[0..9]; [] min(x,pow(9,99))>1 -> true; endmodule", "64 bits"),
        (
            "module m x:[0..9]; [] (x<3?pow(9,99):x)>1 -> true; endmodule",
            "column 28: 'pow(9, 99)' does not fit in 64 bits",
        ),
        (
            "module m x:[0..9]; [] x/pow(9,999)<1 -> true; endmodule",
            "'pow(9, 999)' does not fit in 64 bits",
        ),
        (
            "module m x:[0..9]; [] pow(floor(log(x+2,2)*x),2)<9 -> true; endmodule",
            "64 bits",
        ),
        (
            "module m x:[0..1]; [a] true -> true; endmodule "
            "module n [a] true -> (x'=1); endmodule",
            "x is a variable of another module",
        ),
        (
            "global g:[0..1]; module m [a] true -> (g'=1); endmodule "
            "module n [a] true -> true; endmodule",
            "several modules do together, such as [a], must not change it",
        ),
        ("module m [] true -> true; endmodule system m || k endsystem", "no module is"),
        (
            "module m [a] true -> true; endmodule system m/{b} endsystem",
            "no action is called 'b'",
        ),
        (
            "module m [a] true -> true; endmodule system m{b<-a} endsystem",
            "no action is called 'b'",
        ),
        (
            "module m [] true -> true; endmodule init false endinit",
            "no state is initial",
        ),
        ('module m endmodule rewards "r" [b] true : 1; endrewards', "no action is"),
        ("module A endmodule", "the name of a module, found 'A', a word of the lang"),
        ('module m endmodule rewards "r" true : 1/0; endrewards', "is not a number"),
        (
            "module m x:[0..1]; endmodule rewards true : 1/x; endrewards",
            "a reward is inf",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text, said):
    with pytest.raises(mdp.ProgramError) as error:
        mdp.Program.parse(text).build()
    assert said in str(error.value)
    assert error.value.place.line == 1


def test_rewards_of_large_programs_are_those_of_small_ones(monkeypatch):
    text = CUBE + 'rewards "r" x>1 : 0.5*x; x+y=3 : y; endrewards'
    text += ' rewards "s" true : 1/(3-x); endrewards'
    program = mdp.Program.parse(text)
    small = program.build(constants={"N": 2})
    monkeypatch.setattr(_program, "MANY", 1)
    large = program.build(constants={"N": 2})
    assert small.state_rewards["r"].any()
    for name in ("r", "s"):
        np.testing.assert_array_equal(
            small.state_rewards[name], large.state_rewards[name]
        )
    with pytest.raises(mdp.ProgramError, match="a reward is inf in state"):
        program.build(constants={"N": 3})


@pytest.mark.parametrize(
    ("constants", "said"),
    [
        ({"M": 1}, "no constant 'M'"),
        ({"N": 1.5}, "'N' must be of type int, got 1.5"),
        ({"N": Fraction(7, 2)}, "'N' must be of type int, got 7/2"),
        ({"N": True}, "'N' must be of type int, got True"),
        ({"N": 1, "two": 2}, "'two' has a value in the program: 2"),
        ({"N": 10**400}, "'N' must be of type int, got 1000"),
        ({"N": Fraction(10**400, 3)}, "'N' must be of type int, got 1000"),
    ],
)
def test_constants_that_cannot_be(constants, said):
    text = "mdp const int N; const int two = 2; module m x:[0..N]; endmodule"
    with pytest.raises(ValueError, match=said):
        mdp.Program.parse(text).build(constants=constants)


def test_rewards_have_the_numbers_of_their_places_in_the_program():
    model = mdp.Program.parse("""
        mdp module m x : [0..3]; [up] x<3 -> (x'=x+1); [] x=3 -> true; endmodule
        rewards "ups" [up] true : 5; endrewards
        rewards true : x; endrewards
        rewards "more" [up] x>0 : 1; endrewards
    """).build()
    values = [mdp.check(model, f"R{{{k}}}max=? [ C<=3 ]").value for k in (1, 2, 3)]
    assert values == [15, 0 + 1 + 2, 2]
    assert mdp.check(model, "R{1}max=? [ I=2 ]").value == 0


def test_several_rewards_without_names_have_numbers():
    model = mdp.Program.parse("""
        dtmc module m x : [0..3]; [] x<3 -> (x'=x+1); endmodule
        rewards true : 1; endrewards
        rewards "x" true : x; endrewards
        rewards x>0 : 10; endrewards
    """).build()
    values = [mdp.check(model, f"R{{{k}}}=? [ C<=3 ]").value for k in (1, 2, 3)]
    assert values == [3, 0 + 1 + 2, 20]
    assert mdp.check(model, "R=? [ C<=3 ]").value == 3


def test_a_reward_that_is_larger_than_any_float64_is_an_error():
    text = "dtmc module m x:[0..1]; endmodule rewards x=0 : 1e400; endrewards"
    with pytest.raises(mdp.ProgramError, match="larger than any float64"):
        mdp.Program.parse(text).build()


def test_the_interpreter_can_tell_what_is_wrong():
    rng = np.random.default_rng(3)
    case = _programs._draw(rng, 0, 2)
    assert _programs._compared(case, "host") is None
    judge = _programs.Interpreter(case)
    assert judge.starts()


# ---- on a device ---------------------------------------------------------------------

QUEUES = """
ctmc
const double mu = 3/2;
module a
  q : [0..6] init 2;
  b : bool init true;
  [in] q<6 -> mu*(7-q) : (q'=q+1);
  [in] q<3 -> 2 : (q'=q+1) + 1/3 : (q'=q+2);
  [go] q>0 -> q : (q'=q-1) & (b'=!b) + 0.5 : (q'=0);
endmodule
module b
  p : [-2..2] init -2;
  [go] p<2 -> (p'=p+1);
  [] p=2 & q=0 -> 1 : (p'=-2);
endmodule
rewards "jobs" true : q; [go] true : 2.5; [in] b : p+2; endrewards
label "full" = q=6;
"""

WIDE = """
mdp
const int N = 11;
module m
  x : [0..N]; y : [0..999999999]; z : [0..999999999] init 5; w : [-7..999999999];
  [go] x<N -> 1/4 : (x'=mod(x+3,N)) + 1/4 : (x'=mod(x+3,N)) & (w'=w) + 1/2 : (x'=x+1);
  [] x=N & y<3 -> (y'=y+1) & (w'=min(w+3,999999999));
  [go] x=2 & z<7 -> x/10 : (z'=z+1) + 1-x/10 : (w'=w-0);
endmodule
"""

STARTS = """
dtmc
module m
  x : [0..9]; y : [0..9];
  [] x>y -> x/(x+y) : (x'=x-1) + y/(x+y) : (y'=max(y-1,0));
  [] x=y & x>0 -> ENDS;
endmodule
init x+y=9 endinit
rewards [] true : x; x>y : 1; endrewards
""".replace("ENDS", " + ".join(f"1/10 : (x'={min(k, 8)})" for k in range(10)))


@pytest.mark.parametrize(
    ("text", "constants"),
    [(DIE, {}), (CUBE, {"N": 4}), (QUEUES, {}), (WIDE, {}), (STARTS, {})],
    ids=["die", "cube", "queues", "wide", "starts"],
)
def test_a_device_finds_what_the_host_finds(text, constants):
    program = mdp.Program.parse(text)
    host, device = (
        program.build(constants=constants, engine=engine)
        for engine in ("host", "device")
    )
    for name in (field.name for field in dataclasses.fields(host)):
        mine, other = getattr(host, name), getattr(device, name)
        assert jax.tree.structure(mine) == jax.tree.structure(other), name
        for x, y in zip(jax.tree.leaves(mine), jax.tree.leaves(other), strict=True):
            assert (x.dtype, x.shape) == (y.dtype, y.shape), name
            np.testing.assert_allclose(x, y, rtol=4e-16, err_msg=name)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x : [0..3]; [] true -> (x'=x+1);", r"x becomes 4 in state \(x=3\)"),
        ("x : [0..3]; [] x<3 -> x/2 : (x'=x+1) + 0.5 : true;", "sum up to 0.5 in"),
        ("x : [0..3]; [] x<3 -> (x'=x+1);", "nothing can happen in state .x=3."),
    ],
    ids=["range", "sum", "deadlock"],
)
def test_what_is_wrong_is_told_by_the_host(text, said):
    with pytest.raises(mdp.ProgramError, match=said):
        one(text, engine="device", deadlocks="error")


def test_programs_that_are_none_for_a_device():
    ends = " + ".join(f"1/300 : (x'={k})" for k in range(300))
    for text in (f"x : [0..299]; [] true -> {ends};", "[] true -> true;"):
        with pytest.raises(ValueError, match="at most 256 successors"):
            one(text, engine="device")
        one(text, engine="auto")
    with pytest.raises(ValueError, match="more than 5 states"):
        one("x : [0..99]; [] x<99 -> (x'=x+1);", engine="device", max_states=5)


def test_many_states_are_left_to_a_device_that_is_apart(monkeypatch):
    asked, searched = [], []

    def explore(rules, most):
        asked.append(most)
        raise MemoryError

    def on_host(*given):
        searched.append(given[1:])
        return by_host(*given)

    front = sys.modules["jaxgames.mdp.program._program"]
    monkeypatch.setattr(front, "may_have_accelerator", lambda: True)
    monkeypatch.setattr(front, "backend", lambda: "gpu")
    monkeypatch.setattr(front, "DEVICE_FROM", 50)
    by_host = front.explore
    monkeypatch.setattr(front, "explore", on_host)
    monkeypatch.setattr(front._on_device, "explore", explore)
    program = mdp.Program.parse(CUBE)
    assert program.build(constants={"N": 2}).num_states == 27
    assert not asked
    assert program.build(constants={"N": 3}).num_states == 64
    most = 2**31 - 1
    assert asked == [most]
    assert searched == [(most, 50), (most, 50), (most,)]
    # What was large is not begun with on the host again.
    assert program.build(constants={"N": 3}).num_states == 64
    assert asked == [most] * 2
    assert searched[3:] == [(most,)]


@pytest.mark.sweep
def test_random_programs_on_a_device():
    for seed in range(60):
        case = _programs._draw(np.random.default_rng([8, seed]), seed, 3)
        assert _programs._compared(case, "device") is None, _programs.program_of(case)


@pytest.mark.sweep
def test_random_programs_in_numbers():
    for seed in range(3000):
        case = _programs._draw(np.random.default_rng([7, seed]), seed, 3)
        assert _programs._compared(case, "host") is None, _programs.program_of(case)


NAMED = """
dtmc
const int N;
const double p = 0.25;
const bool fair = p = 0.5;
formula end = x = N;
formula far = !fair & x + 1 >= N;
module walk
  x : [0..N];
  [] !end -> p:(x'=x+1) + 1-p:(x'=0);
  [] end -> true;
endmodule
"""


def test_properties_may_name_formulas_and_constants():
    program = mdp.Program.from_text(NAMED)
    model = program.build(constants={"N": 3})
    for named, plain in (
        ("P=? [ F<=7 end ]", "P=? [ F<=7 x=3 ]"),
        ("P=? [ F<=2 far & !end ]", "P=? [ F<=2 x=2 ]"),
        ("P=? [ F<=N x = N - 1 ]", "P=? [ F<=3 x = 2 ]"),
        ("P>p [ F<=3 end ]", "P>0.25 [ F<=3 x=3 ]"),
        ("P=? [ F<=4 (fair | end) ]", "P=? [ F<=4 x=3 ]"),
    ):
        found = mdp.check(model, program.property(named, {"N": 3})).value
        assert found == mdp.check(model, plain).value, named
    with pytest.raises(mdp.PropertyError, match="did you mean 'end'"):
        mdp.check(model, program.property("P=? [ F ende ]", {"N": 3}))


def test_what_a_property_defines_itself_comes_first():
    program = mdp.Program.from_text(NAMED)
    model = program.build(constants={"N": 3})
    (own,) = mdp.Property.parse_many("const bool end = false; P=? [ F<=7 end ]")
    assert mdp.check(model, program.property(own, {"N": 3})).value == 0
    with pytest.raises(ValueError, match="M"):
        program.property("P=? [ F end ]", {"M": 3})


def test_cycles_are_seldom_looked_for_while_many_objects_stay():
    lines = "\n".join(f"[] x={i} & x+1>{i} -> (x'={i + 1});" for i in range(400))
    text = f"dtmc\nmodule a\nx:[0..400];\n{lines}\nendmodule"
    looks = []
    before = gc.get_threshold()
    gc.callbacks.append(lambda phase, facts: looks.append(phase))
    try:
        for threshold in (before, (1 << 30, 5, 5)):
            gc.set_threshold(*threshold)
            gc.collect()
            looks.clear()
            built = mdp.Program.parse(text).build()
            assert len(looks) <= 2, looks
            assert built.num_states == 401
            assert gc.get_threshold() == threshold
            with pytest.raises(mdp.ProgramError):
                mdp.Program.parse("dtmc\nmodule a\nx:[0..y];\nendmodule").build()
            assert gc.get_threshold() == threshold
    finally:
        gc.callbacks.pop()
        gc.set_threshold(*before)


def test_what_real_numbers_may_be():
    """A part that is real keeps its range, so that what is made of it may be whole."""
    body = "x:[0..20]; [] pow({},2)<50 & x<20 -> (x'=x+1);"
    body += "[] pow({},2)>=50 | x>19 -> true;"
    for part, last in (
        ("floor(x/2+0.5)", 15),
        ("ceil(-(0.5*x))", 16),
        ("round(x*(1/3)-0.25)", 20),
        ("floor(max(0.5, x/3))", 20),
        ("floor(x<3 ? 0.5 : x/(x+1))", 20),
    ):
        model = mdp.Program.parse(
            f"mdp module m {body.format(part, part)} endmodule"
        ).build()
        assert max(model.valuations["x"]) == last, part


def test_ranges_hold_whatever_is_computed():
    rng = np.random.default_rng(3)
    ends = {"x": (-5, 9), "y": (1, 7), "z": (-(2**60), 2**60)}
    scope = _expressions.Scope({}, {x: (i, ends[x]) for i, x in enumerate(ends)}, {})
    columns = [
        np.append(rng.integers(low, high + 1, 500), (low, high, max(low, 1)))
        for low, high in ends.values()
    ]
    numbers = [Fraction(1, 3), Fraction(1, 10), Fraction(5, 2), Fraction(-7, 11), 2]

    def drawn(depth: int):
        if not depth:
            name = Name(str(rng.choice(list("xxyyz"))))
            return name if rng.random() < 0.6 else Constant(numbers[rng.integers(5)])
        signs = ["+", "-", "*", "/", "negative", "min", "max", "floor", "round", "?"]
        sign = str(rng.choice(signs))
        parts = [drawn(depth - 1) for _ in range(2)]
        if sign == "?":
            parts.insert(0, Operation("<", (drawn(0), drawn(0))))
        one = sign in ("negative", "floor", "round")
        return Operation(sign, tuple(parts[:1] if one else parts))

    real = 0
    for _ in range(2000):
        node = drawn(int(rng.integers(1, 5)))
        try:
            found = scope.typed(node)
        except PropertyError:
            continue  # too large
        if found.tree is None or found.low is None:
            continue
        with np.errstate(all="ignore"):
            values = np.asarray(found.on(np, columns))
        assert np.all(found.low <= values), node
        assert np.all(values <= found.high), node
        real += found.kind == "double"
    assert real > 500
