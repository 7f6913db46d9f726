"""Models that Storm builds: converted, and through files both ways."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from jaxgames import interop, io
from jaxgames.io import prism
from jaxgames.mdp import MDP, check

stormpy = pytest.importorskip("stormpy", reason="stormpy is not installed")

PROGRAM = """\
mdp
module walk
  x : [0..3] init 0;
  [go] x<3 -> 1/3: (x'=x+1) + 2/3: (x'=max(0,x-1));
  [stay] x=2 -> true;
  [] x=1 -> 0.1: (x'=0) + 0.2: (x'=1) + 0.7: (x'=3);
  [done] x=3 -> true;
endmodule
label "end" = x=3;
rewards "steps" [go] true : 1; endrewards
rewards "height" true : x; endrewards
"""
CHAIN = """\
dtmc
module die
  s : [0..3] init 0;
  [] s=0 -> 0.25: (s'=1) + 0.75: (s'=2);
  [] s>0 & s<3 -> (s'=3);
  [] s=3 -> true;
endmodule
"""
MODELS = Path(__file__).parents[3] / "shared/data/public/mdp/models"


def build(path, constants: str = ""):
    program = stormpy.io.parse_prism_program(str(path), prism_compatibility=True)
    if constants:
        program = stormpy.io.instantiate_constants(program, constants)[0]
    options = stormpy.BuilderOptions()
    options.set_build_all_labels()
    options.set_build_all_reward_models()
    options.set_build_choice_labels()
    return stormpy.build_model(program, options=options)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("storm") / "walk.nm"
    path.write_text(PROGRAM)
    return build(path)


def differences(a: MDP, b: MDP) -> list[str]:
    """Where two models differ; a label that is nowhere counts for nothing.

    From UMB files stormpy 2.0.0 reads rewards without a name as `default`.
    """
    found = [
        name
        for name in ("row_group_offsets", "row_offsets", "columns", "probs", "initial")
        if not np.array_equal(getattr(a, name), getattr(b, name))
    ]
    for name in ("labels", "choice_labels", "state_rewards", "choice_rewards"):
        x, y = (
            {
                ("" if k == "default" else k): v
                for k, v in (getattr(m, name) or {}).items()
                if v.any()
            }
            for m in (a, b)
        )
        if set(x) != set(y) or not all(np.array_equal(x[k], y[k]) for k in x):
            found.append(name)
    return found


def test_what_storm_says_entry_by_entry(model):
    ours, matrix = interop.stormpy.to_mdp(model), model.transition_matrix
    assert ours.num_states == model.nr_states
    for state in range(model.nr_states):
        first, last = ours.row_group_offsets[state : state + 2]
        assert first == matrix.get_row_group_start(state)
        assert last == matrix.get_row_group_end(state)
        labels = set(model.labeling.get_labels_of_state(state)) - {"init"}
        assert {name for name, x in ours.labels.items() if x[state]} == labels
        for choice in range(first, last):
            row = slice(*ours.row_offsets[choice : choice + 2])
            entries = [(e.column, e.value) for e in matrix.get_row(choice)]
            assert list(zip(ours.columns[row], ours.probs[row], strict=True)) == entries
            names = model.choice_labeling.get_labels_of_choice(choice)
            found = {name for name, x in ours.choice_labels.items() if x[choice]}
            assert found == set(names)
    assert ours.initial.tolist() == list(model.initial_states)
    steps = model.reward_models["steps"].state_action_rewards
    assert ours.choice_rewards["steps"].tolist() == list(steps)
    height = model.reward_models["height"].state_rewards
    assert ours.state_rewards["height"].tolist() == list(height)


def test_there_and_back(model):
    ours = interop.stormpy.to_mdp(model)
    back = interop.stormpy.from_mdp(ours.pad(16, 16, 32))
    assert (back.nr_states, back.nr_choices) == (model.nr_states, model.nr_choices)
    assert differences(interop.stormpy.to_mdp(back), ours) == []
    with pytest.raises(ValueError, match="with probabilities, this has none"):
        interop.stormpy.from_mdp(dataclasses.replace(ours, probs=None))


def test_branches_are_sorted_and_merged():
    arrays = [0, 1, 2], [0, 4, 5], [1, 0, 1, 0, 1], [0.25, 0.125, 0.5, 0.125, 1]
    back = interop.stormpy.to_mdp(interop.stormpy.from_mdp(MDP.from_arrays(*arrays)))
    assert back.columns.tolist() == [0, 1, 1]
    assert back.probs.tolist() == [0.25, 0.75, 1]
    assert back.initial.tolist() == []


def test_a_chain_stays_one(tmp_path):
    arrays = [0, 1, 2], [0, 2, 3], [0, 1, 1], [0.5, 0.5, 1]
    chain = MDP.from_arrays(*arrays, initial=[0], labels={"goal": [False, True]})
    io.save(tmp_path / "a.drn", chain)
    read = stormpy.build_model_from_drn(str(tmp_path / "a.drn"))
    for model in (read, interop.stormpy.from_mdp(chain)):
        assert str(model.model_type).endswith("DTMC")


def test_umb(model, tmp_path):
    ours = interop.stormpy.to_mdp(model)
    for mode in stormpy.io.CompressionMode:
        options = stormpy.io.UmbExportOptions()
        options.compression = mode
        path = tmp_path / f"{mode.name}.umb"
        stormpy.io.export_to_umb(model, str(path), options=options)
        assert differences(io.load(path), ours) == []
    options = stormpy.io.UmbImportOptions()
    options.build_choice_labeling = True
    options.build_state_valuations = False
    for suffix in ("", ".gz", ".xz"):
        io.save(tmp_path / f"ours.umb{suffix}", ours)
        path = str(tmp_path / f"ours.umb{suffix}")
        again = stormpy.build_model_from_umb(path, options=options)
        assert differences(interop.stormpy.to_mdp(again), ours) == []


QUEUE = """\
ctmc
module queue
  n : [0..3] init 0;
  <> n<3 -> 1.5: (n'=n+1);
  <> n>0 -> 2: (n'=n-1) + 0.25: (n'=0);
endmodule
label "full" = n=3;
rewards "held" true : n; endrewards
"""


def test_rates(tmp_path):
    path = tmp_path / "queue.sm"
    path.write_text(QUEUE)
    theirs = build(path)
    ours = interop.stormpy.to_mdp(theirs)
    assert (
        ours.exit_rates.tolist() == list(theirs.exit_rates) == [1.5, 3.75, 3.75, 2.25]
    )
    back = interop.stormpy.from_mdp(ours)
    assert list(back.exit_rates) == list(theirs.exit_rates)
    again = interop.stormpy.to_mdp(back)
    assert differences(again, ours) == []
    assert again.exit_rates.tolist() == ours.exit_rates.tolist()
    for asked in ('P=? [ F<=2 "full" ]', 'R{"held"}=? [ C<=2 ]'):
        (formula,) = stormpy.parse_properties(asked)
        told = stormpy.model_checking(back, formula).get_value(0)
        found = check(ours, asked)
        assert abs(found.value - told) <= 1e-5 * told


def test_markov_automata_are_refused(tmp_path):
    path = tmp_path / "choice.ma"
    path.write_text(
        "ma module m s : [0..1]; [] s=0 -> 1:(s'=1); [] s=0 -> 1:(s'=0);"
        " <> s=1 -> 2:(s'=0); endmodule"
    )
    with pytest.raises(io.FormatError, match="holds a Markov automaton"):
        interop.stormpy.to_mdp(build(path))


def test_drn(model, tmp_path):
    ours = interop.stormpy.to_mdp(model)
    stormpy.io.export_to_drn(model, str(tmp_path / "storm.drn"))
    found = io.load(tmp_path / "storm.drn")
    assert np.allclose(found.probs, ours.probs, rtol=1e-9)  # it rounds them
    same = dataclasses.replace(found, probs=ours.probs)
    # It writes rewards of each kind for each name.
    kept = {"choice_rewards": {"steps"}, "state_rewards": {"height"}}
    for kind, names in kept.items():
        rewards = getattr(same, kind)
        assert not any(rewards[name].any() for name in set(rewards) - names)
    assert differences(same, ours) == []

    with pytest.warns(UserWarning, match="label 'deadlock', which holds nowhere"):
        io.save(tmp_path / "ours.drn", ours)
    options = stormpy.io.DirectEncodingParserOptions()
    options.build_choice_labeling = True
    path = str(tmp_path / "ours.drn")
    again = stormpy.build_model_from_drn(path, options=options)
    assert differences(interop.stormpy.to_mdp(again), ours) == []


def test_explicit_files(model, tmp_path):
    ours = interop.stormpy.to_mdp(model)
    with pytest.warns(UserWarning, match="the name 'height' of a reward model"):
        prism.save(tmp_path / "ours.tra", ours, style="storm")
    names = (str(tmp_path / f"ours.{suffix}") for suffix in ("tra", "lab"))
    again = interop.stormpy.to_mdp(stormpy.build_model_from_explicit(*names))
    assert set(differences(again, ours)) <= {
        *("choice_labels", "state_rewards", "choice_rewards")
    }


def test_examples_of_explicit_files():
    files = pytest.importorskip("stormpy.examples.files")
    folder = Path(files.__file__).parent / "files" / "tra"
    found = [folder / f"{name}.tra" for name in ("two_dice", "die", "leader4")]
    found = [path for path in found if path.exists()]
    if not found:
        pytest.skip("stormpy comes without these files")
    for path in found:
        model = io.load(path)
        assert model.num_states > 1
        head, *rows = filter(None, map(str.split, path.read_text().splitlines()))
        assert len(rows) == model.num_branches
        column = 2 if head == ["dtmc"] else 3
        total = sum(float(row[column]) for row in rows)
        assert total == pytest.approx(model.probs.sum())


def test_chains(tmp_path):
    (tmp_path / "die.pm").write_text(CHAIN)
    chain = build(tmp_path / "die.pm")
    ours = interop.stormpy.to_mdp(chain)
    assert ours.num_choices == ours.num_states == chain.nr_states
    stormpy.io.export_to_drn(chain, str(tmp_path / "die.drn"))
    assert differences(io.load(tmp_path / "die.drn"), ours) == []


@pytest.mark.parametrize(
    ("name", "constants"),
    [
        ("leader3.nm", ""),
        ("coin2.nm", "K=2"),
        ("dining_crypt3.nm", ""),
        ("beauquier3.nm", ""),
        ("wlan0.nm", "COL=0"),
    ],
)
def test_models_of_the_benchmark_suite(tmp_path, name, constants):
    if not (MODELS / name).exists():
        pytest.skip("the folder of published models is not there")
    model = build(MODELS / name, constants)
    ours = interop.stormpy.to_mdp(model)
    assert (ours.num_states, ours.num_choices) == (model.nr_states, model.nr_choices)
    assert ours.num_branches == model.nr_transitions
    assert (
        differences(interop.stormpy.to_mdp(interop.stormpy.from_mdp(ours)), ours) == []
    )
    stormpy.io.export_to_drn(model, str(tmp_path / "storm.drn"))
    found = io.load(tmp_path / "storm.drn")
    rewards = {"state_rewards", "choice_rewards"}  # one may have no name there
    assert set(differences(found, ours)) <= rewards
