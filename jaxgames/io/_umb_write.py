"""Writing of UMB files: the members of an archive."""

import json
import re
from typing import Any

import numpy as np

from jaxgames.io import _models, _umb_valuations
from jaxgames.io._umb_read import PLAYERS, RATES, UNNAMED, VERSION, player_names
from jaxgames.mdp import MDP, Game

_DOUBLE = {"type": "double", "size": 64}
_INTERVAL = {"type": "double-interval", "size": 128}
_BOOL = {"type": "bool", "size": 1}


def members(given: MDP | Game) -> dict[str, bytes]:
    """What the archive holds, the index first; of what is without padding."""
    model = given.model if isinstance(given, Game) else given
    action, names = _models.actions(model, "UMB")
    initial = np.zeros(model.num_states, bool)
    if model.initial is not None:
        initial[model.initial] = True
    is_drawn = model.probs is not None or model.lower is not None
    system: dict[str, Any] = {
        "time": "discrete",
        "#players": 0 if is_drawn and _models.is_chain(model) else 1,
        "#states": model.num_states,
        "#initial-states": int(initial.sum()),
        "#choices": model.num_choices,
        "#choice-actions": len(names) if len(names) > 1 else 0,
        "#branches": model.num_branches,
        "#branch-actions": 0,
        "#observations": 0,
    }
    files = {
        "state-to-choices.bin": model.row_group_offsets.astype("<u8").tobytes(),
        "state-is-initial.bin": _packed(initial),
        "choice-to-branches.bin": model.row_offsets.astype("<u8").tobytes(),
        "branch-to-target.bin": model.columns.astype("<u8").tobytes(),
    }
    if isinstance(given, Game):
        # Who has nothing to choose may be anybody, and each state has a player there.
        player = np.maximum(np.asarray(given.player)[: model.num_states], 0)
        many = max(int(player.max(initial=0)) + 1, 2)
        system |= {"#players": many, "player-names": player_names(many)}
        files[PLAYERS] = player.astype("<u4").tobytes()
    if model.lower is not None:
        system["branch-probability-type"] = _INTERVAL
        both = np.stack([model.lower, model.upper], axis=1)
        files["branch-to-probability.bin"] = both.astype("<f8").tobytes()
    elif model.probs is not None:
        system["branch-probability-type"] = _DOUBLE
        files["branch-to-probability.bin"] = model.probs.astype("<f8").tobytes()
    if model.exit_rates is not None:
        system |= {"time": "stochastic", "#players": 0, "exit-rate-type": _DOUBLE}
        files[RATES] = model.exit_rates.astype("<f8").tobytes()
    if len(names) > 1:
        texts = [name.encode() for name in names]
        cuts = np.cumsum([0, *map(len, texts)])
        files["actions/choices/values.bin"] = action.astype("<u4").tobytes()
        files["actions/choices/string-mapping.bin"] = cuts.astype("<u8").tobytes()
        files["actions/choices/strings.bin"] = b"".join(texts)
    annotations: dict[str, dict] = {}
    if model.labels:
        about = annotations["aps"] = {}
        names_of = _identifiers(list(model.labels))
        for alias, members in model.labels.items():
            name = names_of[alias]
            about[name] = {"alias": alias, "applies-to": ["states"], "type": _BOOL}
            files[f"annotations/aps/{name}/states/values.bin"] = _packed(members)
    rewards = {
        "states": model.state_rewards,
        "choices": model.choice_rewards,
        "branches": model.branch_rewards,
    }
    named = dict.fromkeys(name for group in rewards.values() for name in group or ())
    if named:
        about = annotations["rewards"] = {}
        for alias, name in _identifiers(list(named)).items():
            kinds = [kind for kind in rewards if alias in (rewards[kind] or {})]
            about[name] = {"alias": alias, "applies-to": kinds, "type": _DOUBLE}
            if name == UNNAMED and not alias:  # as Storm tells that it has no name
                del about[name]["alias"]
            for kind in kinds:
                values = (rewards[kind] or {})[alias]
                file = f"annotations/rewards/{name}/{kind}/values.bin"
                files[file] = values.astype("<f8").tobytes()
    index: dict[str, Any] = {
        "format-version": VERSION,
        "format-revision": 0,
        "file-data": {"tool": "jaxgames"},
        "transition-system": system,
    }
    if annotations:
        index["annotations"] = annotations
    if model.valuations:
        about, data = _umb_valuations.write(dict(model.valuations))
        index["valuations"] = {"states": about}
        files[_umb_valuations.FILE] = data
    return {"index.json": json.dumps(index, indent=1).encode(), **files}


def _packed(bits: np.ndarray) -> bytes:
    """Booleans as whole words of 64 bits, the first in the lowest bit."""
    data = np.packbits(bits, bitorder="little").tobytes()
    return data.ljust((len(bits) + 63) // 64 * 8, b"\0")


def _identifiers(names: list[str]) -> dict[str, str]:
    """Names of folders for names that may hold anything."""
    found: dict[str, str] = {}
    for name in names:
        base = re.sub(r"[^0-9a-z_-]", "_", name.lower()) or UNNAMED
        number, identifier = 0, base
        while identifier in found.values():
            number += 1
            identifier = f"{base}-{number}"
        found[name] = identifier
    return found
