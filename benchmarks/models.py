"""The Markov decision processes that are measured, by name and group.

    python -m benchmarks.models --data FOLDER --cache FOLDER [PATTERN ...]

builds those that have to be built from PRISM sources, several at a time, and keeps
them in the cache: what a run of the suites would do first.
"""

import argparse
import concurrent.futures
import fnmatch
import importlib.util
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.run import JOBS, Options
from jaxgames import io
from jaxgames.mdp import MDP

ROOT = Path(__file__).parent.parent

SMALL_FILE = 12_000
"""Bytes up to which a file holds a small model."""

BUILD_S = 540.0
"""Seconds after which building a model is given up."""


class Instance(NamedTuple):
    """A model as Storm builds it.

    Attributes:
        source: name of the PRISM source, without `.nm`.
        constants: values of its constants, as on PRISM's command line.
    """

    source: str
    constants: str = ""


INSTANCES: dict[str, Instance] = {
    "beauquier7": Instance("beauquier7"),
    "coin4_k10": Instance("coin4", "K=10"),
    "coin6_k2": Instance("coin6", "K=2"),
    "coin6_k8": Instance("coin6", "K=8"),
    "csma3_4": Instance("csma3_4"),
    "dining_crypt7": Instance("dining_crypt7"),
    "dining_crypt8": Instance("dining_crypt8"),
    "dining_crypt9": Instance("dining_crypt9"),
    "firewire_dl_800_36": Instance("firewire_dl", "deadline=800,delay=36"),
    "firewire_impl_dl_100_36": Instance("firewire_impl_dl", "deadline=100,delay=36"),
    "firewire_impl_dl_200_36": Instance("firewire_impl_dl", "deadline=200,delay=36"),
    "leader6": Instance("leader6"),
    "leader7": Instance("leader7"),
    "mutual5": Instance("mutual5"),
    "mutual6": Instance("mutual6"),
    "phil-nofair6": Instance("phil-nofair6"),
    "phil5": Instance("phil5.mdp"),
    "phil6": Instance("phil6.mdp"),
    "phil7": Instance("phil7.mdp"),
    "phil_lss3_k10": Instance("phil_lss3", "K=10"),
    "phil_lss4_k4": Instance("phil_lss4", "K=4"),
    "phil_lss4_k5": Instance("phil_lss4", "K=5"),
    "rabin4": Instance("rabin4"),
    "wlan3_t500": Instance("examples_wlan3", "TRANS_TIME_MAX=500"),
    "wlan3_t2500": Instance("examples_wlan3", "TRANS_TIME_MAX=2500"),
    "wlan4_c0": Instance("wlan4", "COL=0"),
    "wlan4_t2500": Instance("examples_wlan4", "TRANS_TIME_MAX=2500"),
    "wlan6_t10": Instance("examples_wlan6", "TRANS_TIME_MAX=10"),
    "wlan6_t2500": Instance("examples_wlan6", "TRANS_TIME_MAX=2500"),
    "wlan_dl0_80": Instance("wlan_dl0", "deadline=80"),
    "zeroconf_dl_f50": Instance("zeroconf_dl", "reset=false,deadline=50,N=1000,K=1"),
    "zeroconf_dl_f100": Instance("zeroconf_dl", "reset=false,deadline=100,N=1000,K=1"),
    "zeroconf_dl_f50_k6": Instance("zeroconf_dl", "reset=false,deadline=50,N=1000,K=6"),
}
"""Models of PRISM's benchmark suite and examples, of the families that Table 1 of the
paper has; `decomposition_page.py` says which stands for which.
"""


class Model(NamedTuple):
    """A model, not made or read yet.

    Attributes:
        name: the same for all solvers and peers.
        group: `models` for those of files, `made` for generated ones.
        make: makes or reads it, and says how long Storm took to build it, if it did.
        file: where it is read from, if it is.
    """

    name: str
    group: str
    make: Callable[[], tuple[MDP, float | None]]
    file: Path | None = None

    @property
    def there(self) -> bool:
        """Whether it can be had now: a file may have to be built first."""
        return self.file is None or self.file.exists()


# ---- generated ones --------------------------------------------------------------


def random_mdp(seed: int, states: int, choices: int, branches: int) -> MDP:
    """States with up to so many choices, each with up to so many branches."""
    rng = np.random.default_rng(seed)
    groups = _offsets(rng.integers(1, choices, states, endpoint=True))
    rows = _offsets(rng.integers(1, branches, groups[-1], endpoint=True))
    columns = rng.integers(0, states, rows[-1])
    return MDP.from_arrays(groups, rows, columns)


def ladder(rungs: int) -> MDP:
    """A model whose decomposition takes an outer round for each rung.

    From rung `i` one falls to the rung below or comes to a landing, from where one may
    climb to rung `i + 1`, or stay. At the top one may fall into a trap, so that the top
    rung is in no end component; without it the landing below leads nowhere, the rung
    below leaves its component, and so on.
    """
    choices: list[list[int]] = []
    for rung in range(0, 2 * rungs, 2):
        landing = rung + 1
        choices += [[max(rung - 2, 0), landing], [landing], [rung + 2]]
    top, trap = 2 * rungs, 2 * rungs + 1
    choices += [[max(top - 2, 0), trap], [trap]]
    rows = _offsets(np.array([len(each) for each in choices]))
    groups = _offsets(np.append(np.tile([1, 2], rungs), [1, 1]))
    return MDP.from_arrays(groups, rows, np.concatenate(choices))


def _offsets(counts: np.ndarray) -> np.ndarray:
    return np.append(0, np.cumsum(counts)).astype(np.int32)


def _made(name: str, make: Callable[[], MDP]) -> Model:
    return Model(name, "made", lambda: (make(), None))


MADE: tuple[Model, ...] = (
    _made("random model 1e6 c=2 b=2", lambda: random_mdp(1, 10**6, 2, 2)),
    _made("random model 1e6 c=4 b=3", lambda: random_mdp(2, 10**6, 4, 3)),
    _made("ladder model 300", lambda: ladder(300)),
)
"""Models that are made here."""

SMALL: tuple[Model, ...] = (
    _made("tiny random model", lambda: random_mdp(3, 40, 2, 2)),
    _made("tiny ladder model", lambda: ladder(5)),
)
"""For a quick look."""


# ---- those of files --------------------------------------------------------------


def all_models(
    data: Path | None, cache: Path | None = None, *, small: bool = False
) -> list[Model]:
    """Every model: made here, in files, or to be built from sources.

    Args:
        data: a folder with models `NAME.npz`, `NAME.umb` or `NAME.drn`, and with
            sources `NAME.nm`, there or in its folder `models`.
        cache: a folder for what is built; None: nothing is.
        small: tiny ones only.

    Raises:
        ValueError: a folder does not exist.
    """
    files = from_files(data, small=small)
    if small:
        return [*SMALL, *files]
    known = {model.name for model in files}
    return [
        *MADE,
        *files,
        *(m for m in from_sources(data, cache) if m.name not in known),
    ]


def chosen(options: Options, *, of_files: bool = False) -> Iterator[Model]:
    """Those that were chosen and can be had, after building what has to be built.

    Args:
        options: what was chosen.
        of_files: whether to leave out those that are made here.
    """
    models = [
        model
        for model in all_models(options.data, options.cache, small=options.small)
        if options.wants_game(model.name, model.group)
        and not (of_files and model.file is None)
    ]
    if options.data is not None:
        build(models, options.data, jobs=options.jobs)
    return (model for model in models if model.there)


def from_files(data: Path | None, *, small: bool = False) -> list[Model]:
    """Models in the files of a folder, smallest first; of several, the first format."""
    if data is None:
        return []
    if not data.is_dir():
        raise ValueError(f"{data} is no folder")
    found: dict[str, Path] = {}
    for suffix in _READERS:
        for path in sorted(data.glob(f"*{suffix}")):
            tiny = path.stat().st_size <= SMALL_FILE
            if (tiny or not small) and _holds_model(path):
                found.setdefault(path.stem, path)
    ordered = sorted(found.values(), key=lambda path: path.stat().st_size)
    return [_in_file(path.stem, path) for path in ordered]


def from_sources(data: Path | None, cache: Path | None) -> list[Model]:
    """The instances whose sources a folder holds, as they are or will be in a cache."""
    if data is None or cache is None:
        return []
    return [
        _in_file(name, cache / f"{name}.npz")
        for name, instance in INSTANCES.items()
        if _source(data, instance) is not None
    ]


def build(
    models: Iterable[Model], data: Path, *, jobs: int, time_limit_s: float = BUILD_S
) -> None:
    """Builds the models that are not there by Storm, several at a time.

    What fails is said on the terminal and left out.

    Args:
        models: some of those of `from_sources`.
        data: the folder of the sources.
        jobs: how many at a time; large models take several GB each.
        time_limit_s: limit for each.
    """
    missing = [model for model in models if not model.there]
    if missing and importlib.util.find_spec("stormpy") is None:
        names = ", ".join(model.name for model in missing)
        print(f"stormpy is not installed, which would build {names}", flush=True)
        return
    with concurrent.futures.ThreadPoolExecutor(jobs) as threads:
        for said in threads.map(
            lambda model: _build(model, data, time_limit_s), missing
        ):
            print(said, flush=True)


def _build(model: Model, data: Path, time_limit_s: float) -> str:
    """Builds a model in a process of its own; says how that went."""
    instance, file = INSTANCES[model.name], model.file
    source = _source(data, instance)
    if file is None or source is None:
        raise ValueError(f"{model.name} has no source in {data}")
    file.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "benchmarks.storm"]
    began = time.perf_counter()
    try:
        done = subprocess.run(
            [*command, str(source.resolve()), instance.constants, str(file.resolve())],
            capture_output=True,
            text=True,
            cwd=ROOT,
            timeout=time_limit_s,
        )
    except subprocess.TimeoutExpired:
        return f"{model.name}: not built within {time_limit_s:g} s"
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["no message"]
        return f"{model.name}: not built: {lines[-1]}"
    return f"{model.name}: built in {time.perf_counter() - began:.1f} s"


def _source(data: Path, instance: Instance) -> Path | None:
    for folder in (data, data / "models"):
        path = folder / f"{instance.source}.nm"
        if path.is_file():
            return path
    return None


def _in_file(name: str, path: Path) -> Model:
    return Model(name, "models", lambda: _READERS[path.suffix](path), path)


def _holds_model(path: Path) -> bool:
    """Games lie in such files as well."""
    if path.suffix != ".npz":
        return True
    with np.load(path) as arrays:
        return "row_group_offsets" in arrays


def _read_npz(path: Path) -> tuple[MDP, float | None]:
    with np.load(path) as arrays:
        build_s = arrays.get("build_s")
        model = MDP.from_arrays(
            arrays["row_group_offsets"],
            arrays["row_offsets"],
            arrays["columns"],
            arrays.get("probs"),
            initial=arrays.get("initial_states"),
        )
    return model, None if build_s is None else float(build_s)


_READERS: dict[str, Callable[[Path], tuple[MDP, float | None]]] = {
    ".npz": _read_npz,
    ".umb": lambda path: (io.umb.load(path), None),
    ".drn": lambda path: (io.drn.load(path), None),
}


def main(arguments: list[str] | None = None) -> None:
    """Builds the models named on the command line, or all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add = parser.add_argument
    add("patterns", nargs="*", metavar="PATTERN", help="names of models")
    add("--data", type=Path, required=True, metavar="FOLDER", help="of the sources")
    add("--cache", type=Path, required=True, metavar="FOLDER", help="for the models")
    add("--jobs", type=int, default=JOBS, help="how many at a time")
    args = parser.parse_args(arguments)
    patterns = args.patterns or ["*"]
    known = {model.name for model in from_files(args.data)}
    chosen = [
        model
        for model in from_sources(args.data, args.cache)
        if model.name not in known
        and any(fnmatch.fnmatchcase(model.name, each) for each in patterns)
    ]
    build(chosen, args.data, jobs=args.jobs)


if __name__ == "__main__":
    main()
