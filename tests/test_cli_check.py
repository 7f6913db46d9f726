"""`jaxgames check`: systems, formulas, automata, products, and what is said of them."""

import json
import re
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from jaxgames import Arena, buchi, host, io, ltl, plot, systems
from jaxgames.buchi import Trace
from jaxgames.cli import Exit, main
from jaxgames.mdp import MDP
from jaxgames.systems import System

LOCK = """\
kripke;
propositions wait cs;
initial 0;
0 "idle" -> 1;
1 "waiting" {wait} -> 1 2;
2 "critical" {cs} -> 0;
"""
LINK = 'des (0, 3, 2)\n(0,"send",1)\n(1,"receive",0)\n(1,"tau",1)\n'
# Two states, of which 1 is a dead end.
ENDS = "kripke; propositions done; initial 0; 0 -> 1; 1 {done};"
DATA = Path(__file__).parent.parent.parent / "shared" / "data" / "made" / "ltl"


@pytest.fixture(autouse=True)
def _where(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "")
    Path("lock.kripke").write_text(LOCK)
    Path("link.aut").write_text(LINK)
    Path("ends.kripke").write_text(ENDS)


@pytest.fixture
def run(capsys):
    def run(*arguments):
        code = main(["check", *map(str, arguments)])
        return code, *capsys.readouterr()

    return run


def marked(path: str, **more) -> str:
    """A product in a file: 0 -> 1 -> 2 -> 1, and 2 accepts."""
    arrays = {
        "offsets": np.array([0, 1, 2, 3], np.int32),
        "targets": np.array([1, 2, 1], np.int32),
        "accepting": np.array([False, False, True]),
        **more,
    }
    np.savez(path, **arrays)
    return path


# ---- answers ---------------------------------------------------------------------


def test_a_violated_formula_and_its_lasso(run):
    code, out, err = run(
        *("--graph", "lock.kripke", "--ltl", "G(wait -> F cs)", "-v", "--stats"),
        *("-s", "map"),
    )
    assert (code, err) == (Exit.WRONG, "")
    seconds = r" +\d+\.\d{3} s"
    lines = [
        rf"  property{seconds}  2 states, 3 edges",
        rf"  load{seconds}  3 states, 4 transitions, 2 propositions",
        rf"  product{seconds}  5 vertices, 8 edges",
        rf"  prepare{seconds}",
        rf"  solve{seconds}  map, \d+ .*",
        rf"  verify{seconds}  valid",
        r"  stats    solver map, .*rounds \d+.*",
        r"lock.kripke: violated: G\(wait -> F cs\)",
        r"prefix",
        r"    0  idle     {}      automaton 0",
        r"    1  waiting  {wait}  automaton 0",
        r"cycle",
        r"  \* 1  waiting  {wait}  automaton 1",
    ]
    assert re.fullmatch("\n".join(lines) + "\n", out), out


def test_the_file_has_a_place_of_its_own(run):
    formula = ("--ltl", "G(wait -> F cs)", "-q")
    for arguments in (
        ("lock.kripke", *formula),
        (*formula, "lock.kripke"),
        ("--graph", "lock.kripke", *formula),
    ):
        assert run(*arguments)[0] == Exit.WRONG
    code, _, err = run("lock.kripke", "--graph", "lock.kripke", *formula)
    assert code == Exit.BAD_INPUT
    assert "not allowed with argument FILE" in err
    code, _, err = run(*formula)
    assert code == Exit.BAD_INPUT
    assert "one of the arguments FILE --model is required" in err


def test_several_properties(run):
    formulas = ("G(cs -> X !cs)", "F cs", "G F nowhere", "G wait")
    words = [word for formula in formulas for word in ("--ltl", formula)]
    code, out, err = run("lock.kripke", *words, "--lasso", "cycle.json", "-s", "host")
    assert code == Exit.BAD_INPUT  # of what is not there
    assert out.splitlines() == [
        "lock.kripke: holds: G(cs -> X !cs)",
        "lock.kripke: violated: F cs",
        "lock.kripke: violated: G wait",
    ]
    assert "no proposition 'nowhere'" in err
    written = sorted(path.name for path in Path().glob("*.json"))
    assert written == ["cycle-2.json", "cycle-4.json"]
    code, out, _ = run("lock.kripke", *words, "--jsonl")
    found = [json.loads(line) for line in out.splitlines()]
    assert [facts.get("holds") for facts in found] == [True, False, None, False]
    assert run("lock.kripke", *words, "--json")[0] == Exit.BAD_INPUT
    assert run("lock.kripke", *words, "--dot", "x.dot")[0] == Exit.BAD_INPUT


def test_properties_of_a_file(run):
    Path("all.ltl").write_text("# what holds\n\nG(cs -> X !cs)\n  F !cs\n")
    code, out, err = run("lock.kripke", "--properties", "all.ltl", "-v")
    assert (code, err) == (Exit.DONE, "")
    assert out.count(": holds: ") == 2
    Path("bad.ltl").write_text("# what holds\n\nG(cs -> X !cs)\nF (cs\n")
    code, out, err = run("lock.kripke", "--properties", "bad.ltl")
    assert (code, out) == (Exit.BAD_INPUT, "")
    assert err.startswith("jaxgames: bad.ltl:4: ")
    Path("none.ltl").write_text("# nothing\n")
    code, _, err = run("lock.kripke", "--properties", "none.ltl")
    assert (code, "none.ltl: expected formulas" in err) == (Exit.BAD_INPUT, True)


def test_many_files_and_properties(run):
    Path("bad.aut").write_text("des (0, 1, 2)\nx\n")
    files = ("link.aut", "bad.aut", "ends.kripke")
    code, out, err = run(*files, "--ltl", "F done", "--ltl", "G F done", "--jsonl")
    assert code == Exit.BAD_INPUT
    found = [json.loads(line) for line in out.splitlines()]
    assert [(facts["file"], facts.get("holds")) for facts in found] == [
        ("link.aut", False),
        ("link.aut", False),
        ("bad.aut", None),
        ("ends.kripke", True),
        ("ends.kripke", True),
    ]
    assert err.count("bad.aut:2") == 1
    code, _, _ = run(*files[::2], "--ltl", "F done", "--lasso", "cycles/", "-q")
    assert (code, [x.name for x in Path("cycles").iterdir()]) == (1, ["link.json"])


def test_an_action_that_never_occurs(run):
    code, out, err = run("link.aut", "--ltl", "G !error")
    assert (code, "link.aut: holds: G !error" in out) == (Exit.DONE, True)
    assert err == "jaxgames: link.aut: no transition has the action 'error': " + (
        "it never occurs\n"
    )
    assert run("link.aut", "--ltl", "F error", "-q")[::2] == (Exit.WRONG, "")


@pytest.mark.parametrize(
    ("graph", "formula", "holds"),
    [
        ("lock.kripke", "G(cs -> X !cs)", True),
        ("lock.kripke", "F cs", False),
        ("link.aut", "send", True),
        ("link.aut", "G(send -> X !send)", True),
        ("link.aut", "G F receive", False),
        ("ends.kripke", "F G done", True),
        ("ends.kripke", "G F !done", False),
        ("chain.tra", "F goal", True),
        ("chain.drn", "G !goal", False),
        ("lock.npz", "G(wait -> F cs)", False),
    ],
)
def test_formulas_over_every_kind_of_file(run, graph, formula, holds):
    model = MDP.from_arrays(
        [0, 1, 2], [0, 1, 2], [1, 1], [1, 1], initial=[0], labels={"goal": [0, 1]}
    )
    io.save("chain.tra", model)
    io.save("chain.drn", model)
    io.save("lock.npz", io.load("lock.kripke"))
    code, out, err = run("--graph", graph, "--ltl", formula, "--json", "-v")
    facts = json.loads(out)
    assert (code, err) == (Exit.DONE if holds else Exit.WRONG, "")
    assert (facts["holds"], facts["verified"]) == (holds, True)
    assert (facts["lasso"] is None) == holds


def test_an_automaton_is_what_must_not_happen(run):
    wrong = ltl.translate("G(wait -> F cs)", negate=True)
    io.save("wrong.hoa", wrong)
    io.save("wrong.never", wrong)
    for name in ("wrong.hoa", "wrong.never"):
        code, out, _ = run("--graph", "lock.kripke", "--automaton", name, "--json")
        facts = json.loads(out)
        assert code == Exit.WRONG
        assert facts["property"] == f"no run of {name}"
        assert [step["name"] for step in facts["lasso"]["cycle"]] == ["waiting"]
    io.save("never.hoa", ltl.translate("F(cs & wait)"))
    assert run("--graph", "lock.kripke", "--automaton", "never.hoa")[0] == Exit.DONE


def test_deadlocks_as_they_are_told(run):
    check = ("--graph", "ends.kripke", "--ltl", "G !done", "-q")
    assert run(*check)[0] == Exit.WRONG  # it stays there
    assert run(*check, "--deadlock", "reject")[0] == Exit.DONE  # there is no run
    assert run(*check, "--deadlock", "error")[::2] == (
        Exit.BAD_INPUT,
        "jaxgames: ends.kripke: the system can reach state 1, which has no successor; "
        "with --deadlock stutter it would stay there for ever\n",
    )


def test_initial_states_of_ones_own(run):
    check = ("--graph", "lock.kripke", "--ltl", "!wait & !cs", "-q", "--initial")
    assert [run(*check, n)[0] for n in (0, 1, "0,2")] == [0, 1, 1]
    check = ("--graph", "link.aut", "--ltl", "send", "-q", "--initial")
    assert [run(*check, n)[0] for n in (0, 1)] == [0, 1]


# ---- products --------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["auto", "host", *buchi.SOLVERS])
def test_a_product_alone(run, solver):
    if solver == "trim":
        # Weak by its partition: vertices 1 and 2 are in one part, and both accept.
        marked("p.npz", accepting=np.array([False, True, True]), initial=np.int32(0))
    else:
        marked("p.npz", initial=np.int32(0))
    states = {"prop_state": np.array([0, 1, 1]), "prop_edges": [[0, 1], [1, 1]]}
    with np.load("p.npz") as archive:
        np.savez("q.npz", **archive, **states)
    code, out, err = run("--graph", "q.npz", "-v", "-s", solver)
    assert (code, err) == (Exit.WRONG, "")
    assert "q.npz: violated: no accepting cycle\nprefix\n    0\ncycle\n" in out
    assert run("--graph", "q.npz", "-q", "--initial", "1,2")[0] == Exit.WRONG


def test_a_product_starts_where_its_file_says(run):
    arrays = {"offsets": np.array([0, 0, 1]), "targets": np.array([1])}
    marked("p.npz", **arrays, accepting=np.array([False, True]))
    assert run("--graph", "p.npz", "-q")[0] == Exit.DONE
    marked("p.npz", **arrays, accepting=np.array([False, True]), initial=[1])
    assert run("--graph", "p.npz", "-q")[0] == Exit.WRONG
    assert run("--graph", "p.npz", "-q", "--initial", 0)[0] == Exit.DONE
    game = Arena.from_edges([0], [0], owner=[0], accepting=[True])
    io.save("game.npz", game)
    assert run("--graph", "game.npz", "-q")[0] == Exit.WRONG


@pytest.mark.skipif(not DATA.is_dir(), reason="the shared products are not here")
def test_products_with_known_answers(run):
    for name in ("phils-4.resp0", "leader-3.elect", "elevator-4-clever.pass1"):
        path = DATA / f"{name}.npz"
        with np.load(path) as archive:
            expected = bool(archive["has_accepting_cycle"])
        code, out, err = run("--graph", path, "--json", "-v", "-s", "host")
        assert (code, err) == (Exit.WRONG if expected else Exit.DONE, "")
        assert json.loads(out)["verified"]


# ---- the lasso -------------------------------------------------------------------


def test_the_lasso_in_files(run):
    check = ("--graph", "lock.kripke", "--ltl", "G(wait -> F cs)", "-q", "--lasso")
    code, out, err = run(*check, "l.txt", "--dot", "l.dot", "--draw", "l.svg")
    assert (code, out, err) == (Exit.WRONG, "", "")
    assert run(*check, "l.json")[0] == Exit.WRONG
    told = json.loads(Path("l.json").read_text())
    assert [step["state"] for step in told["prefix"] + told["cycle"]] == [0, 1, 1]
    assert told["cycle"] == [
        {
            "vertex": told["cycle"][0]["vertex"],
            "accepting": True,
            "state": 1,
            "automaton_state": 1,
            "name": "waiting",
            "propositions": ["wait"],
        }
    ]
    assert Path("l.txt").read_text().splitlines()[-1].split() == [
        *("*", "1", "waiting", "{wait}", "automaton", "1")
    ]
    dot = Path("l.dot").read_text()
    assert '  s2 [label="1\\nwaiting\\n{wait}", peripheries=2];\n' in dot
    assert '  s2 -> s2 [color="#10609f", penwidth=2.5];\n' in dot
    drawn = ET.fromstring(Path("l.svg").read_text())
    texts = [x.text for x in drawn.iter() if x.tag.endswith("text")]
    assert texts == ["0", "idle", "1", "waiting", "1", "waiting"]


def test_nothing_is_written_where_it_holds(run):
    files = ("--lasso", "l.txt", "--dot", "l.dot", "--draw", "l.svg")
    check = ("--graph", "lock.kripke", "--ltl", "G(cs -> X !cs)", *files)
    assert run(*check)[0] == Exit.DONE
    assert not [name for name in files[1::2] if Path(name).exists()]


def ring(length: int, tail: int) -> Trace:
    """A lasso of steps that are known by number only; the last one accepts."""
    size = tail + length
    targets = np.append(np.arange(1, size), tail)
    found = buchi.accepting_cycle(
        (np.arange(size + 1), targets), accepting=[size - 1], solver="host"
    )
    return Trace.of(found.lasso, accepting=np.arange(size) == size - 1)


def test_long_lassos_are_cut_where_they_are_shown():
    trace = ring(100, 50)
    assert repr(trace) == "Trace(50 + 100 steps)"
    text = trace.to_text(4).splitlines()
    assert text == [
        *("prefix", "      0", "      1", "    ... 46 more ...", "     48", "     49"),
        *("cycle", "     50", "     51", "    ... 96 more ...", "    148", "  * 149"),
    ]
    assert len(str(trace).splitlines()) == 152
    svg = ET.fromstring(plot.draw_lasso(trace).to_svg())
    steps = [x for x in svg.iter() if x.get("class", "").startswith("step")]
    assert len(steps) == 2 * plot.MAX_DRAWN_STEPS
    assert [x.get("class") for x in steps].count("step cycle") == plot.MAX_DRAWN_STEPS
    assert plot.lasso_to_dot(trace).count(" -> ") == 150


@pytest.mark.parametrize(("length", "tail"), [(1, 0), (2, 3), (7, 1)])
def test_pictures_of_lassos_lay_nothing_over_another(length, tail):
    svg = ET.fromstring(plot.draw_lasso(ring(length, tail)).to_svg())
    steps = [x for x in svg.iter() if x.get("class", "").startswith("step")]
    assert len(steps) == length + tail
    assert len([x for x in svg.iter() if x.get("class", "").startswith("edge")]) == (
        length + tail
    )
    middle = []
    for step in steps:
        points = re.findall(r"(-?[\d.]+),(-?[\d.]+)", step.get("d", ""))
        middle.append(np.array(points, float).mean(0))
    apart = [np.hypot(*(a - b)) for a in middle for b in middle if a is not b]
    assert min(apart, default=99.0) > 25


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
def test_graphviz_reads_odd_names():
    import subprocess

    system = System.from_graph(
        ([0, 1], [0]), {'say "p"': [True]}, names=['a "b" \\n <c>']
    )
    product = systems.product(system, ltl.translate('"say \\"p\\""'))
    trace = Trace.of(buchi.accepting_cycle(product).lasso, product, system)
    subprocess.run(
        ["dot", "-Tsvg"], input=plot.lasso_to_dot(trace).encode(), check=True
    )


# ---- what is wrong ---------------------------------------------------------------

HOA = (
    "HOA: v1\nStates: 1\nStart: 0\nAP: 1 {}\nAcceptance: 1 {}\n"
    "--BODY--\nState: 0 [t] 0\n--END--\n"
)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("none.npz",), "none.npz: No such file or directory"),
        (
            ("lock.kripke", "--ltl", "G F p"),
            "the system has no proposition 'p', only w",
        ),
        (("lock.kripke", "--ltl", "GFcs"), "no proposition .* blanks 'G F cs'"),
        (("lock.kripke", "--ltl", "G(cs"), "--ltl: column 5 of 'G.cs': expected an op"),
        (
            ("lock.kripke", "--automaton", "p.hoa"),
            "lock.kripke: the system has no prop",
        ),
        (("lock.kripke", "--automaton", "lock.kripke"), "expected an automaton, found"),
        (("lock.kripke",), "has no accepting vertices: say what is checked, by --ltl"),
        (
            ("lock.kripke", "--ltl", "F cs", "--initial", "7"),
            "initial state 7 is not t",
        ),
        (
            ("link.aut", "--ltl", "F tau", "--initial", "0,1"),
            "takes one state of a tra",
        ),
        (
            ("lock.kripke", "--ltl", "F cs", "--initial", "-1"),
            "expected an integer from",
        ),
        (("p.npz", "--initial", "3"), "is 3, expected a vertex from 0 to 2"),
        (
            ("p.npz", "--deadlock", "reject"),
            "--deadlock goes with --ltl or --automaton",
        ),
        (("p.npz", "-s", "fastest"), "no .* solver is called 'fastest'; there are"),
        (
            ("p.npz", "--lasso", "l.csv"),
            "--lasso takes a file that ends in .txt, .*csv",
        ),
        (("p.npz", "--draw", "l.gif"), "--draw takes a file that ends in .svg, .*gif"),
        (("p.npz", "--dot", "no/l.dot"), "no: there is no such folder"),
        (("mask.npz",), "mask.npz: accepting must have one .*3.*, got 1"),
        (("start.npz",), "start.npz: expected initial vertices from 0 to 2, found 9"),
        (
            ("parts.npz",),
            r"parts.npz: partition\[1\] has no edge from state 0 to state 1",
        ),
        (("cut.npz",), "cut.npz: "),
        (
            ("wrong.hoa", "--ltl", "F p"),
            "wrong.hoa: expected a system or a graph, found",
        ),
    ],
)
def test_bad_input(run, arguments, message):
    Path("p.hoa").write_text(HOA.format('"p"', "Inf(0)"))
    Path("wrong.hoa").write_text(HOA.format('"p"', "Inf(0)"))
    marked("p.npz")
    marked("mask.npz", accepting=np.array([True]))
    marked("start.npz", initial=np.int32(9))
    marked("parts.npz", prop_state=np.array([0, 1, 1]), prop_edges=[[1, 1]])
    marked("cut.npz", targets=np.array([1, 2, 7], np.int32))
    code, out, err = run("--graph", *arguments, "-q")
    assert (code, out) == (Exit.BAD_INPUT, "")
    assert re.match(f"jaxgames: .*{message}", err), err
    assert len(err.splitlines()) == 1


def test_what_goes_together(run):
    code, _, err = run("--graph", "a.npz", "--ltl", "p", "--automaton", "a.hoa")
    assert code == Exit.BAD_INPUT
    assert "not allowed with argument" in err
    code, _, err = run("--ltl", "p")
    assert (code, "FILE --model is required" in err) == (Exit.BAD_INPUT, True)


def test_a_search_that_stops_early_has_no_answer(run):
    check = ("--graph", marked("p.npz"), "-s", "map", "--max-steps", "0")
    code, out, err = run(*check)
    assert (code, "violated" in out, "holds" in out) == (Exit.UNSOLVED, False, False)
    assert err == (
        "jaxgames: p.npz: not solved: the limit of 0 rounds was reached; "
        "allow more by --max-steps, or leave it out\n"
    )
    facts = json.loads(run(*check, "--json")[1])
    assert (facts["holds"], facts["status"]) == (None, "max_steps")


def test_a_wrong_answer_is_not_written(run, monkeypatch):
    lasso = buchi.Lasso(np.array([], np.int32), np.array([1], np.int32))
    right = buchi.accepting_cycle(([0, 1], [0]), accepting=[0], solver="host")

    class Wrong:
        status, stats, exists, decided = right.status, right.stats, True, True

    Wrong.lasso = lasso
    real = buchi.verify
    monkeypatch.setattr(host, "can_compile", lambda: False)
    monkeypatch.setattr(buchi, "accepting_cycle", lambda *_, **__: Wrong)
    monkeypatch.setattr(buchi, "verify", lambda question, _: real(question, lasso))
    code, out, err = run("--graph", marked("p.npz"), "-v", "--lasso", "l.txt")
    assert code == Exit.UNVERIFIED
    assert "WRONG" in out
    assert err.startswith("jaxgames: p.npz: the answer is wrong, nothing is written: ")
    assert not Path("l.txt").exists()


def test_an_automaton_with_fin(run):
    Path("fin.hoa").write_text(HOA.format('"cs"', "Fin(0)"))
    code, out, _ = run("--graph", "lock.kripke", "--automaton", "fin.hoa", "-v")
    assert code == Exit.WRONG
    assert "violated" in out


def test_runs_that_are_fair(run):
    ask = ("link.aut", "--ltl", "G F receive", "--verify", "--json")

    def holds(*more):
        code, out, err = run(*ask, *more)
        assert (code == Exit.DONE) == json.loads(out)["holds"]
        assert (json.loads(out)["verified"], err) == (True, "")
        return json.loads(out)["holds"]

    assert not holds()
    assert holds("--fairness", "weak")
    assert holds("--fairness", "strong")
    # One who may choose between both need never receive.
    assert not holds("--fairness", "strong", "--process", "receive,tau")
    assert holds("--fairness", "strong", "--process", "rec*")
    code, out, _ = run("link.aut", "--ltl", "G F tau", "--fairness", "weak")
    assert code == Exit.WRONG
    assert "then receive" in out.split("cycle")[1]
    assert "then tau" not in out.split("cycle")[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("link.aut", "--fairness", "weak"), "--fairness goes with --ltl or --autom"),
        (("link.aut", "--process", "tau"), "--process goes with --fairness weak or"),
        (
            ("link.aut", "--ltl", "F tau", "--fairness", "weak", "-s", "map"),
            "--fairness goes with --solver auto or host, got 'map'",
        ),
        (
            ("link.aut", "--ltl", "F tau", "--fairness", "weak", "--max-steps", "5"),
            "--max-steps does not go with --fairness",
        ),
        (
            ("lock.kripke", "--ltl", "F cs", "--fairness", "weak"),
            "lock.kripke: the system has no actions",
        ),
        (
            ("link.aut", "--ltl", "F tau", "--fairness", "weak", "--process", "x"),
            "link.aut: process 'x' has no action of the system",
        ),
    ],
)
def test_fairness_that_cannot_be_asked_for(run, arguments, message):
    code, _, err = run(*arguments)
    assert code == Exit.BAD_INPUT
    assert message in err


def test_a_file_with_several_automata_is_told_in_words_of_commands(run):
    io.save("one.hoa", ltl.translate("GF wait"))
    Path("two.hoa").write_text(2 * Path("one.hoa").read_text())
    code, out, err = run("lock.kripke", "--automaton", "two.hoa")
    assert (code, out) == (Exit.BAD_INPUT, "")
    assert err.endswith("the file holds several automata: expected one in each file\n")


def test_several_acceptance_sets_are_not_made_one(run):
    wrong = ltl.translate("GF wait & GF cs & GF(!wait & !cs)", generalised=True)
    assert wrong.num_sets == 3
    io.save("wrong.hoa", wrong)
    ask = ("lock.kripke", "--automaton", "wrong.hoa", "--verify", "--json")
    for solver, vertices in (("auto", 3), ("host", 3), ("map", None)):
        code, out, _ = run(*ask, "-s", solver)
        found = json.loads(out)
        assert (code, found["holds"], found["verified"]) == (Exit.WRONG, False, True)
        assert vertices in (None, found["vertices"])
        states = {step["state"] for step in found["lasso"]["cycle"]}
        assert states == {0, 1, 2}
