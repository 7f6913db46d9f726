"""The suite `values`: probabilities and rewards of models, call to call, beside Storm.

And how long it takes to build a model from a program.

A call is a check of one property of a model in memory; later ones than the first are
timed, ours and Storm's in turn, in one process. A device has compiled by then. Storm
takes its sound method with its default precision, which is ours: 1e-6 relative. It
builds the models from PRISM sources in the folder `data`, or in its folder `models`;
without those, or without Storm, only a model that is made here is measured. Each is
asked twice: as Storm has written it to a file, with states in its order; and as
`Program.build()` makes it of the source, with states in ours. `agrees` of a peer: its
values are between our bounds, as far as its own precision goes; in all states, or in
`COMPARED` of them, since each is asked for alone.
"""

import importlib
import importlib.metadata
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from benchmarks import samples, schema
from benchmarks.run import Options
from jaxgames import Status, drive, io, mdp
from jaxgames.mdp import host

EPSILON = 1e-6

CHECKED, BUILT = "values", "program"
"""The experiments: properties of models, and programs that become models."""

HERE = "built here"
"""Of models whose states are in the order in which we find them."""

CALLS = 9
"""Calls of each that are timed, where `SECONDS` are not over before."""

SECONDS = 2.0

COMPARED = 100_000
"""States whose values are compared with a peer's, at most."""

VERIFIED_UP_TO = 100_000
"""Branches of models whose bounds are verified."""


class Questions(NamedTuple):
    """A model and what is asked of it.

    Attributes:
        source: name of the PRISM source, without `.nm`.
        constants: values of its constants, as on PRISM's command line.
        properties: in PRISM's language.
    """

    source: str
    constants: str
    properties: tuple[str, ...]


_COIN = (
    'Pmin=? [ F "finished" & "all_coins_equal_1" ]',
    'Pmax=? [ F "finished" & !"agree" ]',
    'R{"steps"}max=? [ F "finished" ]',
    'R{"steps"}min=? [ F "finished" ]',
)
_CSMA = (
    'Pmax=? [ !"collision_max_backoff" U "all_delivered" ]',
    'Pmin=? [ !"collision_max_backoff" U "all_delivered" ]',
    'R{"time"}max=? [ F "all_delivered" ]',
    'R{"time"}min=? [ F "all_delivered" ]',
)
_WLAN = tuple(
    f'R{{"{name}"}}{optimum}=? [ F s1=12 & s2=12 ]'
    for name in ("cost", "time")
    for optimum in ("max", "min")
)
_ZEROCONF = ("Pmax=? [ F l=4 & ip=1 ]", "Pmin=? [ F l=4 & ip=1 ]")

MODELS: dict[str, Questions] = {
    "coin4 K=2": Questions("coin4", "K=2", _COIN),
    "coin4 K=4": Questions("coin4", "K=4", _COIN),
    "coin6 K=2": Questions("coin6", "K=2", _COIN[:3]),
    "csma3_4": Questions("csma3_4", "", _CSMA),
    "firewire_dl 400, 3": Questions(
        "firewire_dl", "delay=3,deadline=400", ("Pmin=? [ F s=9 ]",)
    ),
    "wlan3": Questions("wlan3", "COL=2", _WLAN),
    "wlan4": Questions("wlan4", "COL=2", _WLAN),
    "wlan5": Questions("wlan5", "COL=2", _WLAN),
    "wlan_dl0 80": Questions(
        "wlan_dl0", "deadline=80", ("Pmin=? [ F s1=12 & s2=12 ]",)
    ),
    "zeroconf 1000, 2": Questions("zeroconf", "reset=false,N=1000,K=2", _ZEROCONF),
    "zeroconf 1000, 8": Questions("zeroconf", "reset=false,N=1000,K=8", _ZEROCONF),
    "zeroconf 20, 4": Questions("zeroconf", "reset=false,N=20,K=4", _ZEROCONF),
}
"""Models of PRISM's benchmark suite, of ten thousand states and more."""


PROGRAMS = {"gpu": ("coin6", "K=18"), "cpu": ("coin6", "K=2")}
"""Programs that are built, by backend: of ten million states, and of one."""


def run(options: Options, results: schema.Results) -> None:
    """Adds the rows of all questions."""
    made = "grid 8" if options.small else "grid 100"
    if options.wants_game(made, "made"):
        model, _ = samples.grid(8 if options.small else 100)
        results.put([_measured(made, model, samples.QUESTIONS["steps"], None)[0]])
        options.keep(results)
    storm = _storm() if any(x.name == "stormpy" for x in options.libraries) else None
    if options.small or storm is None or options.data is None:
        return
    source, constants = PROGRAMS.get(jax.default_backend(), PROGRAMS["cpu"])
    name, file = f"{source} {constants}", _source(options.data, source)
    if file is not None and options.wants_game(name, "programs"):
        results.put(*([each] for each in _program(storm, f"build {name}", file)))
        options.keep(results)
    for name, about in MODELS.items():
        file = _source(options.data, about.source)
        if file is None or not options.wants_game(name, "models"):
            continue
        try:
            model, theirs, properties = _built(storm, file, about)
        except RuntimeError as error:  # of what Storm cannot read, nothing is compared
            print(f"{name}: {str(error).splitlines()[0]}", flush=True)
            continue
        own = mdp.Program.from_text(file.read_text(), str(file)).build(
            constants=_constants(about.constants)
        )
        place = _places(model, own)
        for text, asked in zip(about.properties, properties, strict=True):

            def peer(asked=asked, theirs=theirs) -> Any:
                return storm.model_checking(theirs, asked)

            for game, each, order in (
                (name, model, np.arange(model.num_states)),
                (f"{name}, {HERE}", own, place),
            ):
                row, other = _measured(game, each, text, peer, order)
                results.put([row], [] if other is None else [other])
                options.keep(results)


def _storm() -> Any:
    """The module, or None if it is not there."""
    try:
        return importlib.import_module("stormpy")
    except ImportError:
        return None


def _source(data: Path, name: str) -> Path | None:
    """The file of a program, in a folder or in its `models`."""
    files = [folder / f"{name}.nm" for folder in (data, data / "models")]
    return next((file for file in files if file.exists()), None)


def _program(storm: Any, game: str, file: Path) -> tuple[schema.Row, schema.PeerRow]:
    """A program that becomes a model, by us and by Storm."""
    constants = game.split()[-1]
    name, _, value = constants.partition("=")
    program = mdp.Program.from_text(file.read_text(), str(file))
    times = []
    for _ in range(4):
        began = time.perf_counter()
        model = program.build(constants={name: int(value)})
        times.append(time.perf_counter() - began)
    first_s, *runs = times
    theirs = storm.io.parse_prism_program(str(file))
    theirs, _ = storm.io.instantiate_constants(theirs, constants)
    options = _everything(storm, [])
    began = time.perf_counter()
    other = storm.build_model(theirs, options=options)
    took = time.perf_counter() - began
    row = schema.Row(
        game=game,
        experiment=BUILT,
        vertices=model.num_states,
        choices=model.num_choices,
        edges=model.num_branches,
        solver="auto",
        first_call_s=first_s,
        solve_s=statistics.median(runs),
        solve_runs=runs,
        verified=None,
        status="SOLVED",
    )
    print(f"{game}: {row.solve_s:.3f} s, Storm {took:.3f} s", flush=True)
    peer = schema.PeerRow(
        game=game,
        peer="stormpy",
        solver="build",
        version=importlib.metadata.version("stormpy"),
        solve_s=took,
        runs=1,
        status="ok",
        agrees=(other.nr_states, other.nr_transitions)
        == (model.num_states, model.num_branches),
    )
    return row, peer


def _everything(storm: Any, asked: list) -> Any:
    """Storm's options to build all that a file can hold."""
    options = storm.BuilderOptions(asked) if asked else storm.BuilderOptions()
    options.set_build_state_valuations(True)
    options.set_build_all_reward_models(True)
    options.set_build_all_labels(True)
    return options


def _built(storm: Any, source: Path, about: Questions) -> tuple[mdp.MDP, Any, list]:
    """A model as ours and as Storm's, and its properties as Storm's."""
    program = storm.io.parse_prism_program(str(source))
    if about.constants:
        program, _ = storm.io.instantiate_constants(program, about.constants)
    asked = list(storm.parse_properties("; ".join(about.properties), program))
    theirs = storm.build_model(program, options=_everything(storm, asked))
    export = storm.io.UmbExportOptions()
    export.compression = storm.io.CompressionMode.NO_COMPRESSION
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "model.umb")
        storm.io.export_to_umb(theirs, str(file), options=export)
        model: Any = io.load(file)
    return model, theirs, asked


def _constants(text: str) -> dict[str, int | bool]:
    """Values of constants as on PRISM's command line."""
    parts = (each.split("=") for each in text.split(",") if each)
    return {
        name: value == "true" if value in ("true", "false") else int(value)
        for name, value in parts
    }


def _places(theirs: mdp.MDP, ours: mdp.MDP) -> np.ndarray:
    """Which state of theirs each of ours is, by the values of variables."""
    names = sorted(ours.valuations or {})
    orders = [
        np.lexsort([(model.valuations or {})[name] for name in names])
        for model in (theirs, ours)
    ]
    place = np.empty(ours.num_states, np.int64)
    place[orders[1]] = orders[0]
    for name in names:
        here, there = ((x.valuations or {})[name] for x in (ours, theirs))
        if not np.array_equal(here, there[place]):
            raise RuntimeError(f"states differ in {name}")
    return place


def _measured(
    name: str,
    model: mdp.MDP,
    text: str,
    peer: Callable[[], Any] | None,
    order: np.ndarray | None = None,
) -> tuple[schema.Row, schema.PeerRow | None]:
    """Ours, and the peer's if there is one, whose states `order` names; in turn."""
    began = time.perf_counter()
    found = mdp.check(model, text, epsilon=EPSILON, throw=False)
    first_s = time.perf_counter() - began
    answer: Any = None if peer is None else peer()
    if jax.default_backend() != "cpu" and host.sequence(model) is None:
        # The host wins races while a device compiles, which then goes on call by call.
        # Models that are nearly without cycles are for the host alone.
        drive.wait_for_losers()
        mdp.check(model, text, epsilon=EPSILON, solver="values", throw=False)
    ours, theirs = [], []
    began = time.perf_counter()
    while len(ours) < 3 or (
        len(ours) < CALLS and time.perf_counter() - began < SECONDS
    ):
        at = time.perf_counter()
        found = mdp.check(model, text, epsilon=EPSILON, throw=False)
        ours.append(time.perf_counter() - at)
        if peer is not None:
            at = time.perf_counter()
            answer = peer()
            theirs.append(time.perf_counter() - at)
    game = f"{name}: {text}"
    row = schema.Row(
        game=game,
        experiment=CHECKED,
        vertices=model.num_states,
        choices=model.num_choices,
        edges=model.num_branches,
        solver="auto",
        first_call_s=first_s,
        solve_s=statistics.median(ours),
        solve_runs=ours,
        rounds=int(found.stats["rounds"]),
        verified=_verified(model, text, found),
        status=Status(found.status).name,
    )
    print(f"{game}: {row.solve_s:.4f} s", flush=True)
    if peer is None:
        return row, None
    at = np.arange(model.num_states)
    if len(at) > COMPARED:
        at = np.random.default_rng(0).choice(at, COMPARED, replace=False)
    asked = at if order is None else order[at]
    values = np.array([answer.get_value(state) for state in asked.tolist()])
    other = schema.PeerRow(
        game=game,
        peer="stormpy",
        solver="sound",
        version=importlib.metadata.version("stormpy"),
        solve_s=statistics.median(theirs),
        runs=len(theirs),
        status="ok",
        agrees=_agrees(found.lower[at], found.upper[at], values),
    )
    print(f"    stormpy: {other.solve_s:.4f} s", flush=True)
    return row, other


def _verified(model: mdp.MDP, text: str, found: mdp.Checked) -> bool | None:
    """Whether bounds hold, in exact arithmetic; None where that would take long."""
    if model.num_branches > VERIFIED_UP_TO:
        return None
    return bool(mdp.verify_values(model, text, found))


def _agrees(lower: np.ndarray, upper: np.ndarray, values: np.ndarray) -> bool:
    """Whether values that are off by our epsilon at most lie between our bounds."""
    infinite = np.isinf(values)
    if not np.array_equal(np.isinf(lower), infinite):
        return False
    low, high, there = (x[~infinite] for x in (lower, upper, values))
    off = 2 * EPSILON * np.abs(there) + 1e-12
    return bool(np.all((low <= there + off) & (there - off <= high)))
