"""Reading of UMB files: the members of an archive, and the index that explains them."""

import json
import math
import tarfile
from typing import Any, NoReturn

import numpy as np

from jaxgames.arena import MAX_SIZE
from jaxgames.io import _limits, _models, _umb_valuations
from jaxgames.io._files import FilePath, FormatError, reading
from jaxgames.mdp import MDP, Game
from jaxgames.quoting import clipped, quoted

VERSION = 1
"""Of the format."""

UNNAMED = "default"
"""The identifier of a reward model that has no name, since none may be empty."""

MOST_PLAYERS = 128
"""Players that a game may have here."""

PLAYERS = "state-to-player.bin"
"""The member that says who chooses."""

RATES = "state-to-exit-rate.bin"
"""The member that says how fast states are left in continuous time."""

_PER_BYTE = 16
"""Bytes that reading takes for each byte of an archive, about."""

_NOT_READ = ("observations/",)
_SIZES = ("#states", "#initial-states", "#choices", "#branches", "#choice-actions")
_PROBABILITIES = ("double", "rational", "double-interval", "rational-interval")
_OF_ENTITY = {"states": "#states", "choices": "#choices", "branches": "#branches"}


class Archive:
    """The members of a file, and what the index says about them."""

    def __init__(self, path: FilePath):
        self._path = path
        self._members = _unpacked(path)
        self._index = self._read_index()
        self._system = self._index["transition-system"]
        self._left_out: list[str] = []
        self._sizes = {name: self._size(name) for name in _SIZES}

    def model(self) -> MDP | Game:
        """What all members together are: a game if there are several players."""
        self._check_type()
        model = self._model()
        many = self._system["#players"]
        player = self._players(many) if many > 1 else None
        _models.say_left_out(
            self._path, self._left_out, "a model has no place for them"
        )
        return model if player is None else Game(model, player)

    def _model(self) -> MDP:
        """Without who chooses."""
        states, choices = self._sizes["#states"], self._sizes["#choices"]
        branches = self._sizes["#branches"]
        arrays = (
            self._offsets("state-to-choices.bin", states, choices),
            self._offsets("choice-to-branches.bin", choices, branches),
            self._targets(branches, states),
        )
        rewards = {kind: self._rewards(kind) for kind in _OF_ENTITY}
        more = {
            **self._probabilities(branches),
            "exit_rates": self._exit_rates(states),
            "initial": self._initial(states),
            "labels": self._propositions(self._group("aps"), states) or None,
            "choice_labels": self._actions(choices) or None,
            "state_rewards": rewards["states"] or None,
            "choice_rewards": rewards["choices"] or None,
            "branch_rewards": rewards["branches"] or None,
            "valuations": self._valuations(states) or None,
        }
        self._note_the_rest()
        return _models.build(self._path, *arrays, **more)

    def _players(self, many: int) -> np.ndarray:
        """Who chooses in each state: int8 `[S]`."""
        if PLAYERS not in self._members:
            self._refuse(PLAYERS, f"is missing, though there are {many} players")
        player = self._array(PLAYERS, "<u4", self._sizes["#states"])
        self._expect(PLAYERS, player, player < many, f"a player from 0 to {many - 1}")
        names = self._system.get("player-names")
        if names is not None and names != player_names(many):
            self._left_out.append("names of players")
        return player.astype(np.int8)

    # ---- the index ----

    def _read_index(self) -> dict[str, Any]:
        name = "index.json"
        if name not in self._members:
            self._refuse(name, "is missing, so this is not a UMB file")
        try:
            index = json.loads(self._members[name].decode("utf-8"))
        except (ValueError, RecursionError) as error:
            self._refuse(name, f"is not JSON: {error}")
        if not isinstance(index, dict):
            self._refuse(name, "expected an object")
        version = index.get("format-version")
        if version not in (0, VERSION):  # 0: drafts, which differ in nothing read here
            self._refuse(
                name, f"expected format-version {VERSION}, found {quoted(version)}"
            )
        if not isinstance(index.get("transition-system"), dict):
            self._refuse(name, "lacks the object 'transition-system'")
        return index

    def _size(self, name: str) -> int:
        size = self._system.get(name)
        if type(size) is not int or not 0 <= size <= MAX_SIZE:
            expected = f"expected a number up to {MAX_SIZE} for {name!r}"
            self._refuse("index.json", f"{expected}, found {quoted(size)}")
        return size

    def _group(self, name: str) -> dict[str, Any]:
        """A group of annotations."""
        group: Any = self._index
        for key in ("annotations", name):
            group = group.get(key) or {}
            if not isinstance(group, dict):
                self._refuse("index.json", f"{key!r} is not an object")
        return group

    def _check_type(self) -> None:
        system = self._system
        time, seen = system.get("time"), system.get("#observations")
        if time == "urgent-stochastic":
            self._refuse(
                "index.json",
                "holds a Markov automaton (time 'urgent-stochastic'), which is not "
                "supported: only chains in continuous time are",
            )
        if time not in ("discrete", "stochastic"):
            self._refuse(
                "index.json",
                f"expected time 'discrete' or 'stochastic', found {quoted(time)}",
            )
        if seen not in (0, None):
            self._refuse(
                "index.json",
                "expected #observations 0, since models with observations are not "
                f"supported, found {quoted(seen)}",
            )
        many = system.get("#players")
        if type(many) is not int or not 0 <= many <= MOST_PLAYERS:
            self._refuse(
                "index.json",
                f"expected #players from 0 to {MOST_PLAYERS}, found {quoted(many)}",
            )
        if time == "stochastic" and many > 1:
            self._refuse(
                "index.json",
                f"holds a game of {many} players in continuous time, which is not "
                "supported: only Markov chains are",
            )

    # ---- the arrays ----

    def _array(self, name: str, dtype: str, length: int) -> np.ndarray:
        """A member as an array of that length."""
        data, size = self._members[name], np.dtype(dtype).itemsize
        if len(data) != length * size:
            self._refuse(
                name,
                f"expected {length * size} bytes for {length} entries of {size}, found "
                f"{len(data)}",
            )
        return np.frombuffer(data, dtype)

    def _bits(self, name: str, length: int) -> np.ndarray:
        """A member as booleans; they fill whole words of 64 bits."""
        data = self._members[name]
        if len(data) not in ((length + 63) // 64 * 8, (length + 7) // 8):
            expected = f"{(length + 63) // 64 * 8} bytes for {length} bits"
            self._refuse(name, f"expected {expected}, found {len(data)}")
        bits = np.unpackbits(
            np.frombuffer(data, np.uint8), count=length, bitorder="little"
        )
        return bits.astype(bool)

    def _offsets(self, name: str, rows: int, entries: int) -> np.ndarray:
        """Where rows start; each has one entry where the member is left out."""
        if name not in self._members:
            if rows != entries:
                self._refuse(
                    name, f"is missing, though {rows} rows have {entries} entries"
                )
            self._grant(f"{rows} rows", 4 * rows)
            return np.arange(rows + 1, dtype=np.int32)
        offsets = self._array(name, "<u8", rows + 1)
        bad = np.flatnonzero(offsets[1:] < offsets[:-1])
        if len(bad):
            at = int(bad[0])
            self._refuse(
                name,
                f"must ascend, but falls from {offsets[at]} to {offsets[at + 1]} at "
                f"entry {at + 1}",
            )
        if offsets[0] != 0 or offsets[-1] != entries:
            self._refuse(
                name,
                f"must go from 0 to {entries}, but goes from {offsets[0]} to "
                f"{offsets[-1]}",
            )
        return offsets.astype(np.int32)

    def _targets(self, branches: int, states: int) -> np.ndarray:
        name = "branch-to-target.bin"
        if name not in self._members:
            if states > 1 and branches:
                self._refuse(name, "is missing")
            self._grant(f"{branches} branches", 4 * branches)
            return np.zeros(branches, np.int32)
        targets = self._array(name, "<u8", branches)
        self._expect(name, targets, targets < states, f"a state from 0 to {states - 1}")
        return targets.astype(np.int32)

    def _probabilities(self, branches: int) -> dict[str, np.ndarray]:
        """The probabilities of the branches, or their two bounds; by name."""
        kind = self._system.get("branch-probability-type")
        if kind is None:
            return {}
        name = "branch-to-probability.bin"
        if name not in self._members:
            self._refuse(name, "is missing")
        found = self._numbers(name, kind, branches)
        if found is None or kind["type"] not in _PROBABILITIES:
            self._refuse(
                "index.json",
                f"expected probabilities of type {', '.join(_PROBABILITIES)}, found "
                f"{quoted(kind)}",
            )
        for values in found:
            right = (values >= 0) & (values < np.inf)
            self._expect(name, values, right, "a probability")
        names = ("probs",) if len(found) == 1 else ("lower", "upper")
        return dict(zip(names, found, strict=True))

    def _exit_rates(self, states: int) -> np.ndarray | None:
        """How fast states are left; None where steps are counted."""
        if self._system["time"] == "discrete":
            return None
        if RATES not in self._members:
            self._refuse(RATES, "is missing, though time is 'stochastic'")
        kind = self._system.get("exit-rate-type")
        found = self._numbers(RATES, kind, states)
        if found is None or len(found) > 1:
            self._refuse(
                "index.json",
                f"expected exit rates of type double or rational, found {quoted(kind)}",
            )
        return found[0]

    def _numbers(self, name: str, kind: Any, length: int) -> list[np.ndarray] | None:
        """A member as real numbers, or as both bounds of intervals; None: neither."""
        sort = kind.get("type") if isinstance(kind, dict) else None
        if not isinstance(sort, str):
            return None
        base, interval, _ = sort.partition("-interval")
        size = kind.get("size")
        per = 2 if interval else 1
        if size is None:
            size = per * (128 if base == "rational" else 64)
        if type(size) is not int or size <= 0:
            return None
        if base == "rational" and size % (128 * per) == 0:
            values = self._rationals(name, per * length, size // per // 8)
        elif base in ("double", "int", "uint") and size == 64 * per:
            code = {"double": "<f8", "int": "<i8", "uint": "<u8"}[base]
            values = self._array(name, code, per * length).astype(np.float64)
        else:
            return None
        return [values[k::per] for k in range(per)]

    def _rationals(self, name: str, length: int, size: int) -> np.ndarray:
        """Quotients of a signed and an unsigned integer of half the size each."""
        if not length or len(self._members[name]) != length * size:
            return self._array(name, "<u8", length * size // 8)  # empty, or refused
        words = self._array(name, f"V{size}", length)
        if size == 16:
            upper = words.view("<i8")[::2].astype(np.float64)
            lower = words.view("<u8")[1::2].astype(np.float64)
        else:
            half = size // 2
            raw = [bytes(word) for word in words.tolist()]
            upper = [int.from_bytes(x[:half], "little", signed=True) for x in raw]
            lower = [int.from_bytes(x[half:], "little") for x in raw]
            if 0 not in lower:
                return np.array([_quotient(*x) for x in zip(upper, lower, strict=True)])
        if not np.all(lower):
            at = int(np.argmin(lower))
            self._refuse(name, f"entry {at} has the denominator 0")
        return np.asarray(upper) / np.asarray(lower)

    def _initial(self, states: int) -> np.ndarray:
        name, count = "state-is-initial.bin", self._sizes["#initial-states"]
        found = np.empty(0, np.int64)
        if name in self._members:
            found = np.flatnonzero(self._bits(name, states))
        if len(found) != count:
            self._refuse(name, f"expected {count} initial states, found {len(found)}")
        return found

    # ---- names and values ----

    def _strings(self, folder: str, count: int) -> list[str] | None:
        name = f"{folder}/string-mapping.bin"
        if name not in self._members:
            return None
        text = self._members.get(f"{folder}/strings.bin", b"")
        cuts = self._offsets(name, count, len(text)).tolist()
        try:
            return [
                text[i:j].decode("utf-8")
                for i, j in zip(cuts[:-1], cuts[1:], strict=True)
            ]
        except UnicodeDecodeError as error:
            self._refuse(f"{folder}/strings.bin", str(error))

    def _actions(self, choices: int) -> dict[str, np.ndarray]:
        """The choices of each action; the empty name means no action."""
        count, folder = self._sizes["#choice-actions"], "actions/choices"
        names = self._strings(folder, count) if count else None
        if names is None:
            return {}
        name = f"{folder}/values.bin"
        if name not in self._members:
            self._grant(f"{choices} choices", 4 * choices)
            action = np.zeros(choices, np.int32)
        else:
            action = self._array(name, "<u4", choices)
        self._expect(name, action, action < count, f"an action from 0 to {count - 1}")
        return _models.named_sets(self._path, action, [[x] if x else [] for x in names])

    def _propositions(self, group: dict, states: int) -> dict[str, np.ndarray]:
        found = {}
        self._grant(f"{len(group)} labels of {states} states", len(group) * states)
        for identifier, about in group.items():
            name = f"annotations/aps/{identifier}/states/values.bin"
            alias = self._alias(identifier, about, found)
            if name in self._members:
                found[alias] = self._bits(name, states)
            else:
                found[alias] = np.zeros(states, bool)
        return found

    def _rewards(self, kind: str) -> dict[str, np.ndarray]:
        found = {}
        for identifier, about in self._group("rewards").items():
            name = f"annotations/rewards/{identifier}/{kind}/values.bin"
            alias = self._alias(identifier, about, found)
            if identifier == UNNAMED and "alias" not in about and "" not in found:
                alias = ""
            if name not in self._members:
                continue
            values = self._numbers(
                name, about.get("type"), self._sizes[_OF_ENTITY[kind]]
            )
            for bound in values or ():
                self._expect(name, bound, np.isfinite(bound), "a finite number")
            if values is None or not np.array_equal(values[0], values[-1]):
                self._left_out.append(f"rewards {quoted(alias)} of {kind}")
            else:
                found[alias] = values[0]
        return found

    def _valuations(self, states: int) -> dict[str, np.ndarray]:
        """The values of the variables in each state, by the variable's name."""
        group = self._index.get("valuations") or {}
        if not isinstance(group, dict):
            self._refuse("index.json", "'valuations' is not an object")
        if "states" not in group:
            return {}
        description = group["states"]
        several = isinstance(description, dict) and description.get("classes")
        if isinstance(several, list) and len(several) > 1:
            self._left_out.append("valuations of states (of several classes)")
            return {}
        if _umb_valuations.FILE not in self._members:
            self._refuse(_umb_valuations.FILE, "is missing")
        found, left_out = _umb_valuations.read(
            description, self._members[_umb_valuations.FILE], states, self._refuse
        )
        self._left_out += [f"variable {quoted(name)}" for name in left_out]
        return found

    def _note_the_rest(self) -> None:
        """Notes what else is in the file, for which a model has no place."""
        others = self._index.get("annotations") or {}
        self._left_out += [
            f"annotations {quoted(name)}"
            for name in others
            if name not in ("aps", "rewards")
        ]
        for identifier in self._group("aps"):
            for kind in ("choices", "branches"):
                if f"annotations/aps/{identifier}/{kind}/values.bin" in self._members:
                    self._left_out.append(f"proposition {quoted(identifier)} of {kind}")
        for name in self._index.get("valuations") or {}:
            if name != "states":
                self._left_out.append(f"valuations of {clipped(name)}")
        if self._system.get("#branch-actions"):
            self._left_out.append("actions of branches")

    def _alias(self, identifier: str, about, others: dict) -> str:
        """What an annotation is called."""
        if not isinstance(about, dict):
            self._refuse(
                "index.json", f"annotation {quoted(identifier)} is not an object"
            )
        alias = about.get("alias", identifier)
        if not isinstance(alias, str) or alias in others:
            self._refuse("index.json", f"annotation {quoted(identifier)} has no alias")
        return alias

    def _grant(self, what: str, taken: int) -> None:
        """Refuses what is announced, if it is more than the file can bear."""
        _limits.check(self._path, None, what, taken)

    def _expect(self, member: str, values: Any, right: Any, expected: str) -> None:
        """Refuses the first of the values that is not right."""
        if not right.all():
            at = int(np.argmin(right))
            self._refuse(member, f"entry {at} is {values[at]}, expected {expected}")

    def _refuse(self, member: str, message: str) -> NoReturn:
        raise FormatError(self._path, None, f"member '{member}': {message}")


def player_names(many: int) -> list[str]:
    """What players are called who have numbers alone; all of several have names."""
    return [f"player {number}" for number in range(many)]


def _unpacked(path: FilePath) -> dict[str, bytes]:
    """The members that are read, each by its name."""
    members: dict[str, bytes] = {}
    try:
        with (
            reading(path, _PER_BYTE) as file,
            tarfile.open(fileobj=file, mode="r:") as archive,
        ):
            for member in archive:
                name = member.name.removeprefix("./")
                # A sparse member may be longer than the file.
                if not member.isfile() or member.issparse():
                    continue
                if not name.startswith(_NOT_READ):
                    data = archive.extractfile(member)
                    members[name] = data.read() if data else b""
                    if len(members[name]) != member.size:
                        raise tarfile.ReadError(f"{quoted(name)} is cut off")
    except tarfile.TarError as error:
        raise FormatError(
            path,
            None,
            "expected a tar archive, as UMB files are; it is broken or "
            f"something else: {error}",
        ) from error
    return members


def _quotient(upper: int, lower: int) -> float:
    """A quotient of integers of any size; inf if it is too large."""
    try:
        return upper / lower
    except OverflowError:
        return math.inf
