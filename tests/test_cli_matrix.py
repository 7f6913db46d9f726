"""One set of words: which command takes which option, and what it means there."""

import argparse
import importlib

import pytest

from jaxgames import cli
from jaxgames.cli import Exit, _oink, main
from jaxgames.cli._options import Parser

# All of these begin with all commands there are: a new one has to take each word, or to
# be named among those that do not.

READS = cli.COMMANDS.keys() - {
    *("solvers", "generate", "warm", "env", "completion", "manual"),
}
"""Commands that read something."""

SOLVES = READS - {"verify", "info", "convert", "explore"}
"""Commands that find something, and can be asked how and whether it is right."""

KEPT = SOLVES - {"reach", "mdp", "synth", "emersonlei"}
"""Those whose state can be kept, and gone on with."""

OBJECTS = SOLVES - {"check", "equiv"}
"""Those that leave the whole answer out of an object unless they are asked for it."""

DRAWN = SOLVES - {
    *("scc", "mec", "check", "synth", "equiv", "probability", "mdp", "multienergy"),
}
"""Those that find who wins where, which a picture of the game shows."""

TAKEN = {
    "--traceback": set(cli.COMMANDS),
    "--timeout": READS | {"warm"},
    "--memory": READS | {"warm"},
    "--quiet": READS | {"warm"},
    "--format": READS - {"explore"},
    "--json": READS | {"warm", "env", "solvers"},
    "--jsonl": READS - {"explore"},
    "--device": (READS | {"warm"}) - {"convert"},
    "--no-cache": (READS | {"warm"}) - {"convert"},
    "--output": SOLVES | {"convert", "explore"},
    "--solver": SOLVES | {"warm"},
    "--verify": SOLVES,
    "--stats": SOLVES,
    "--max-steps": SOLVES,
    "--checkpoint": KEPT,
    "--resume": KEPT,
    "--all": OBJECTS,
    "--force": SOLVES | {"convert", "explore"},
    "--no-strategies": DRAWN - {"reach"},
    "--draw": DRAWN | {"check", "equiv"},
    "--dot": DRAWN | {"check"},
}
"""The commands that take each option that several take."""

SHORT = {
    "-o": "--output",
    "-s": "--solver",
    "-v": "--verify",
    "-q": "--quiet",
    "-z": "--timeout",
}


def parser_of(name: str) -> Parser:
    parser = Parser(prog=name)
    importlib.import_module(f"jaxgames.cli._{name}").options(parser)
    return parser


@pytest.fixture(scope="module")
def parsers():
    return {name: parser_of(name) for name in cli.COMMANDS}


def shown(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    return [x for x in parser._actions if x.help != argparse.SUPPRESS]


@pytest.mark.parametrize("option", [*TAKEN, *SHORT])
def test_which_commands_take_an_option(parsers, option):
    if option == "--traceback":  # which `main` adds to all
        return
    takes = {
        name
        for name, parser in parsers.items()
        if any(option in action.option_strings for action in shown(parser))
    }
    assert takes == TAKEN[SHORT.get(option, option)]


@pytest.mark.parametrize(
    "option", ["--checkpoint", "--resume", "--draw", "--dot", "--all"]
)
def test_help_says_why_an_option_is_not_taken(parsers, capfd, option):
    missing = SOLVES - TAKEN[option]
    assert {x for x in SOLVES if option in parsers[x].untaken} == missing
    for name in missing:
        why = parsers[name].untaken[option]
        needed = ["--to", "0"] if name == "probability" else []
        assert main([name, "x.pg", *needed, option, "3"]) == Exit.BAD_INPUT
        said = f"jaxgames: {name} takes no {option}: {why} (see jaxgames {name} --help)"
        assert capfd.readouterr().err == said + "\n"
        assert main([name, "--help"]) == Exit.DONE
        assert f"{option}" in capfd.readouterr().out.partition("not taken:")[2]


def test_what_is_unknown_is_looked_up_in_the_help_of_the_command(capfd):
    for words, command in (
        (["solve", "game.pg", "--no-such"], "solve"),
        (["generate", "hanoi", "3", "--no-such"], "generate hanoi"),
    ):
        assert main(words) == Exit.BAD_INPUT
        assert capfd.readouterr().err.endswith(f"(see jaxgames {command} --help)\n")


def test_an_option_means_the_same_everywhere(parsers):
    means: dict[str, dict[tuple, str]] = {}
    for name, parser in parsers.items():
        for action in shown(parser):
            for option in action.option_strings:
                what = action.nargs == 0, type(action).__name__
                means.setdefault(option, {}).setdefault(what, name)
    odd = {option: found for option, found in means.items() if len(found) > 1}
    # `check` takes several formulas, `mdp` several automata, the others one.
    assert odd.keys() == {"--ltl", "--automaton"}
    for short, long in SHORT.items():
        for name, parser in parsers.items():
            for action in shown(parser):
                if short in action.option_strings:
                    assert long in action.option_strings, name


def test_what_is_read_stands_first(parsers):
    for name in READS:
        words = [x for x in shown(parsers[name]) if not x.option_strings]
        assert words[0].dest in ("file", "files", "model"), name


# ---- Oink's words ----------------------------------------------------------------

SOLVERS = """
    bqpt bsspm dp dtl fpi fpj fpjg gpm idtl mspm npp ortl pmtl pp ppp ppq psi ptl
    qpt rr rrdp rtl spm spptl ssi sspm tl tlq tspm uzlk zlk zlkpp-liv zlkpp-std
    zlkpp-waw zlkq
"""
"""What `oink --solvers` lists."""

OPTIONS = """
    -t --trace -v --verify -p --print --input -i --sol -o --output --dot --inflate
    --compress --no-single --no-loops --no-wcwc --no --scc -s --solver -c
    --configure -w --workers -z --timeout --help
"""
"""What `oink --help` lists besides."""


def test_every_word_of_oink_is_known(parsers):
    options = parsers["solve"]._option_string_actions
    assert {f"--{name}" for name in SOLVERS.split()} <= options.keys()
    assert {*OPTIONS.split()} <= options.keys()
    ours = {*_oink.parity.SOLVERS, "host-tangles"}
    assert {*_oink.ALIASES.values(), *_oink.RELATIVES.values()} <= ours
    assert _oink.RELATIVES.keys() | _oink.ALIASES.keys() | ours >= {*SOLVERS.split()}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--tl", "--tl is Oink's; here --host-tangles is what comes close to it"),
        ("-s tl", "it is one of Oink's (did you mean 'host-tangles'?)"),
        ("-s zlkk", "no parity solver is called 'zlkk' (did you mean 'zlk'?)"),
        ("-s zielonk", "no parity solver is called 'zielonk' (did you mean 'zielonka"),
        ("-w 4", "-w is Oink's; here the engine of the host takes one core"),
        ("--compress", "--compress is Oink's; here it is --preprocess compress"),
        ("--no-loops", "nothing is done before a solve but what --preprocess names"),
    ],
)
def test_what_there_is_in_the_place_of_a_word_of_oink(capfd, words, message):
    assert main(["solve", "game.pg", *words.split()]) == Exit.BAD_INPUT
    out, err = capfd.readouterr()
    assert out == ""
    assert message in err
    assert err.count("\n") == 1
