"""`jaxgames mdp`."""

import argparse
import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from jaxgames import io, limits, ltl, mdp
from jaxgames.cli import (
    _fronts,
    _mec,
    _options,
    _outputs,
    _parts,
    _players,
    _report,
    _rows,
)
from jaxgames.cli._exit import Exit, complain
from jaxgames.cli._games import is_program, sizes, start_jax
from jaxgames.cli._phases import Phases
from jaxgames.io._files import COMPRESSIONS
from jaxgames.io._tokens import read_text
from jaxgames.quoting import guess, quoted
from jaxgames.solution import SolveError, Status

EXAMPLE = "mdp model.umb --prop 'Pmax=? [ F \"goal\" ]' --verify"

TEXT = tuple(f".txt{more}" for more in ("", *COMPRESSIONS))
"""Suffixes of the files that a scheduler is written to."""


def options(parser: argparse.ArgumentParser) -> None:
    _options.add_file(
        parser,
        "a Markov chain, decision process or stochastic game: .umb, .drn, .tra or "
        ".prism",
        many=True,
    )
    parser.set_defaults(beside=("output", ".npz"), check=_check_options)
    parser.add_argument(
        "--prop",
        action="append",
        default=[],
        metavar="PROPERTY",
        help="what is asked, in PRISM's language, such as 'Pmax=? [ F \"goal\" ]'; may "
        "be repeated",
    )
    parser.add_argument(
        "--props", metavar="LIST", help="a file of properties, constants and comments"
    )
    parser.add_argument(
        "--name",
        action="append",
        default=[],
        metavar="NAME",
        help="check only the property of that name in LIST; may be repeated",
    )
    parser.add_argument(
        "--automaton",
        action="append",
        default=[],
        metavar="FILE",
        help="find the probability that a deterministic automaton (.hoa, any "
        "acceptance) accepts a run; its propositions are labels; may be repeated",
    )
    parser.add_argument(
        "--optimum",
        choices=("min", "max"),
        default="max",
        help="with --automaton: the smallest or the largest probability over all "
        "schedulers (default: max)",
    )
    _options.add_constants(
        parser, "values of constants of the properties, or of a .prism file"
    )
    parser.add_argument(
        "--epsilon",
        type=_options.positive,
        metavar="E",
        default=1e-6,
        help="how far apart the bounds of a value may be (default: 1e-6)",
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--relative",
        dest="relative",
        action="store_true",
        default=True,
        help="E is relative to the value (default)",
    )
    how.add_argument(
        "--absolute", dest="relative", action="store_false", help="E is absolute"
    )
    parser.add_argument(
        "--exact",
        action="store_true",
        help="print values as fractions, by rational arithmetic: for small models",
    )
    parser.add_argument(
        "--scheduler",
        metavar="OUT",
        help="write the choice of each state to a text file, with the names of states "
        "and choices; - is standard output",
    )
    _rows.add_rows(parser)
    parser.add_argument(
        "-s", "--solver", default="auto", help="which algorithm (default: auto)"
    )
    _options.add_verify(parser, "check the bounds without trusting the solver")
    _options.add_stats(parser)
    _options.add_max_steps(parser, "rounds of value iteration for each property")
    _options.add_common(parser)
    _options.take_no_pictures(parser)
    _options.take_no(
        parser,
        "a property needs many systems of equations, which are solved one after the "
        "other; jaxgames probability keeps the rounds for one target",
        "--checkpoint",
        "--resume",
    )


def run(args: argparse.Namespace) -> Exit:
    properties, constants = _check_options(args)
    start_jax(args)
    phase = Phases(args)
    with phase("load") as notes:
        given, constants, named = loaded(args, constants)
        model = _players.model_of(given)
        properties = [
            named(asked) if isinstance(asked, mdp.Property) else asked
            for asked in properties
        ]
        notes.append(sizes(model))
    facts: dict[str, Any] = {
        "states": model.num_states,
        "choices": model.num_choices,
        "branches": model.num_branches,
        "rewards": list(_reward_names(model)),
        "labels": list(model.labels or {}),
        "variables": list(model.valuations or {}),
    }
    if args.scheduler:
        _check_scheduled(given, properties[0], constants)
    found, codes, answer = [], [Exit.DONE], None
    for number, asked in enumerate(properties, 1):
        answer, verdict, code = _answer(args, phase, given, number, asked, constants)
        codes.append(code)
        found.append(_facts(args, asked, answer, verdict, phase))
        if answer is None:  # a limit: there is no time for more
            break
    facts |= {"status": _worst(found), "properties": found}
    facts["seconds"] = dict(phase.seconds)
    if len(properties) == 1:
        facts = {**found[0], **facts}
    verdicts = [x["verified"] for x in found if x["verified"] is not None]
    facts["verified"] = all(verdicts) if verdicts else None
    if args.json:
        _report.show(args, facts)
    elif not args.quiet:
        for told in found:
            if "stats" in told:
                _parts.tell_stats(args, told)
            print(f"{args.file}: {_told(told)}")
    if not args.quiet:
        _note_unused(constants, properties)
    end = max(codes, key=_ORDER.index)
    if answer is not None and end in (Exit.DONE, Exit.WRONG, Exit.UNSOLVED):
        _write(args, model, answer)
    return end


class _Accepted(NamedTuple):
    """An automaton, asked for as a property is."""

    file: str
    automaton: Any
    optimum: Any
    name: str | None = None

    @property
    def formula(self) -> str:
        """How it is named among properties."""
        return f"P{self.optimum}=? [ {self.file} ]"

    def __str__(self) -> str:
        return self.formula


def loaded(
    args: argparse.Namespace, constants: dict[str, Any]
) -> tuple[Any, dict[str, Any], Callable[[mdp.Property], mdp.Property]]:
    """The model or game, values of constants not its own, and what is to be asked.

    The last one makes a property one that may name what a program defines.
    """
    if not is_program(args):
        kinds = mdp.MDP | mdp.Game
        return _mec.load(args, kinds), constants, lambda asked: asked
    program = io.program.read(args.file)
    own = {k: v for k, v in constants.items() if program.declares(k)}
    others = {k: v for k, v in constants.items() if k not in own}
    try:
        model = program.build(constants=own)
        return model, others, lambda asked: program.property(asked, own)
    except mdp.ProgramError as error:
        raise io.program.told(args.file, error) from None
    except ValueError as error:
        raise ValueError(f"--const: {error}") from None


Asked = mdp.Property | _Accepted


def _note_unused(constants: dict[str, Any], properties: list[Asked]) -> None:
    """Names the values that neither the model nor a property takes: mostly a slip."""
    texts = []
    for asked in properties:
        if not isinstance(asked, mdp.Property):
            return  # the propositions of automata may be any expressions
        beside = (asked.constants, asked.labels, asked.others)
        texts += [str(asked), *(f"{k} {v}" for part in beside for k, v in part.items())]
    words = set(re.findall(r"\w+", " ".join(texts)))
    unused = [name for name in constants if name not in words]
    if unused:
        what = "no constant" if len(unused) == 1 else "no constants"
        complain(
            f"note: --const: the model and the properties have {what} "
            f"{', '.join(unused)}"
        )


_ORDER = Exit.DONE, Exit.WRONG, Exit.UNSOLVED, Exit.UNVERIFIED, Exit.INTERRUPTED
"""Exit codes, the worst last."""


def _check_options(args: argparse.Namespace) -> tuple[list[Asked], dict]:
    _rows.check_output(args)
    if args.scheduler:
        _parts.check_suffix("--scheduler", args.scheduler, TEXT)
        _outputs.check(args, output=args.scheduler)
    if args.solver not in ("auto", *mdp.VALUE_SOLVERS.places):
        mdp.VALUE_SOLVERS.resolve(args.solver)
    properties: list[Asked] = [*_properties(args)]
    for file in args.automaton:
        automaton = io.load(file)
        if not isinstance(automaton, ltl.Automaton | ltl.EmersonLei):
            raise io.FormatError(file, None, "expected an automaton, such as a .hoa")
        properties.append(_Accepted(file, automaton, args.optimum))
    several = [x for x in properties if isinstance(x, mdp.Property) and x.is_several]
    if args.max_steps is not None and several:
        raise ValueError(
            f"--max-steps: '{several[0]}' has several objectives, whose rounds are not "
            "counted; --timeout limits the time"
        )
    if (args.scheduler or args.output) and len(properties) > 1:
        raise ValueError(
            f"-o and --scheduler write what one property comes to, and there are "
            f"{len(properties)}: name one by --name"
        )
    return properties, _options.constants(args)


def asked(args: argparse.Namespace) -> tuple[list[mdp.Property], dict[str, Any]]:
    """What `--prop` and `--const` ask."""
    return _properties(args), _options.constants(args)


def _properties(args: argparse.Namespace) -> list[mdp.Property]:
    """All that is asked, in order."""
    found = []
    for text in args.prop:
        try:
            found += mdp.Property.parse_many(text)
        except mdp.PropertyError as error:
            raise ValueError(f"--prop {quoted(text)}: {error}") from None
    args.asked_first = len(found)  # those of the list follow
    if args.props:
        try:
            listed = mdp.Property.parse_many(read_text(args.props))
        except mdp.PropertyError as error:
            raise _in_file(args.props, error) from None
        if not listed:
            raise io.FormatError(args.props, None, "expected properties, found none")
        names = [asked.name for asked in listed]
        for name in args.name:
            if name not in names:
                known = [x for x in names if x is not None]
                raise io.FormatError(
                    args.props,
                    None,
                    f"no property is called {quoted(name)}{guess(name, known)}",
                )
        found += [x for x in listed if not args.name or x.name in args.name]
    elif args.name:
        raise ValueError("--name names a property of --props")
    if not found and not args.automaton:
        raise ValueError(
            "nothing is asked: expected --prop, or --props with properties, or "
            "--automaton"
        )
    return found


def _in_file(path: str, error: mdp.PropertyError) -> io.FormatError:
    where = f"column {error.place.column}: {error.message}"
    return io.FormatError(path, error.place.line, where)


def _answer(
    args: argparse.Namespace,
    phase: Phases,
    model: Any,
    number: int,
    asked: Asked,
    constants: dict[str, Any],
) -> tuple[Any, Any, Exit]:
    """What a property comes to, what verification says of it, and how it ends."""
    how: dict[str, Any] = {"epsilon": args.epsilon, "relative": args.relative}
    how |= {"constants": constants, "exact": args.exact, "max_steps": args.max_steps}
    verdict = None
    name = "solve" if number == 1 else f"solve {number}"
    is_game = isinstance(model, mdp.Game)
    if is_game and isinstance(asked, _Accepted):
        raise ValueError(
            "--automaton: of stochastic games, that is for jaxgames probability"
        )
    if isinstance(asked, mdp.Property) and asked.is_several and not is_game:
        return _fronts.answered(args, phase, name, model, asked, constants)
    with phase(name) as notes:
        try:
            if isinstance(asked, _Accepted):
                del how["constants"]
                what = (model, asked.automaton, asked.optimum, args.solver)
                found = mdp.acceptance_probability(*what, throw=False, **how)
            else:
                found = mdp.check(model, asked, args.solver, throw=False, **how)
        except mdp.PropertyError as error:
            if number > args.asked_first:
                raise _in_file(args.props, error) from None
            raise ValueError(f"'{asked}': {error}") from None
        except SolveError as error:
            if error.status != Status.PRECISION:
                raise
            complain(f"{args.file}: {asked}: {error.args[0].partition(': ')[2]}")
            return None, None, Exit.UNSOLVED
        around = limits.current()
        args.reached_while = None if around is None else around.phase
        if found.status not in (Status.SOLVED, Status.PRECISION, Status.MAX_STEPS):
            _parts.lift_unless_solved(found)
            return None, None, _parts.not_solved(args, found)
        notes.append(_parts.solver_note(found))
    if args.verify and isinstance(asked, mdp.Property):
        with phase("verify" if number == 1 else f"verify {number}") as notes:
            try:
                verdict = mdp.verify_values(model, asked, found, constants=constants)
            except ValueError as error:  # it cannot, or would take too long
                complain(f"{args.file}: {asked}: not verified: {error}")
            else:
                notes.append("valid" if verdict else "WRONG")
        if verdict is not None and not verdict:
            complain(f"{args.file}: {asked}: the answer is wrong: {verdict}")
            return found, verdict, Exit.UNVERIFIED
    elif args.verify:
        complain(f"{args.file}: {asked}: not verified: only properties are")
    decided = found.is_truth and found.value is not None
    if found.status == Status.MAX_STEPS and not decided:
        return found, verdict, _parts.not_solved(args, found)
    if found.status == Status.PRECISION or found.value is None:
        return found, verdict, Exit.UNSOLVED
    return found, verdict, Exit.WRONG if found.value is False else Exit.DONE


def _check_scheduled(model: Any, asked: Asked, constants: dict[str, Any]) -> None:
    """Raises ValueError, before a long solve, for what will have no scheduler."""
    why = "an automaton's would remember its states"
    if isinstance(asked, mdp.Property):
        try:
            why = mdp.why_no_scheduler(model, asked, constants=constants)
        except mdp.PropertyError:
            return  # which is told when it is asked
    if why:
        raise ValueError(f"--scheduler: '{asked}' has no scheduler to write: {why}")


def _facts(args, asked, answer, verdict, phase: Phases) -> dict[str, Any]:
    facts: dict[str, Any] = {"property": str(asked.formula), "name": asked.name}
    if isinstance(answer, mdp.Front):
        return facts | _fronts.facts(args, answer, verdict)
    if answer is None:
        return facts | {"status": "unsolved", "value": None, "verified": None}
    state = int(answer.initial[0])
    facts |= {
        "status": Status(int(answer.status)).name.lower(),
        "value": _plain(answer.value),
        "lower": _plain(float(answer.lower[state])),
        "upper": _plain(float(answer.upper[state])),
        **({} if not args.exact else {"exact": _fraction(answer)}),
        "state": state,
        "verified": None if verdict is None else bool(verdict),
        **{"solver": answer.stats["solver"]},
        "stats": {k: v for k, v in answer.stats.items() if k != "solver"},
    }
    if facts["status"] == "solved" and answer.value is None:
        facts["status"] = "undecided"
    if args.all:
        for name in ("lower", "upper"):
            facts[f"{name}s"] = [_plain(x) for x in getattr(answer, name).tolist()]
        scheduler = answer.scheduler
        facts["scheduler"] = None if scheduler is None else scheduler.tolist()
        if answer.nature is not None:
            facts["nature"] = answer.nature.tolist()
    return facts


def _fraction(answer: mdp.Checked) -> str | None:
    """The value in the initial state as a fraction, as text."""
    if answer.exact is None:
        return None
    return str(answer.exact[int(answer.initial[0])])


def _plain(value: Any) -> Any:
    """A number as JSON has it: infinite ones as text."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def _worst(found: list[dict]) -> str:
    names = [told["status"] for told in found]
    return next((name for name in names if name != "solved"), "solved")


def _told(told: dict) -> str:
    name = told["property"] if told["name"] is None else f'"{told["name"]}"'
    value = told["value"]
    if told.get("kind") == "pareto":
        return f"{name} has {_fronts.listed(told)}"
    if told.get("exact"):
        return f"{name} is {told['exact']}"
    if told["status"] == "unsolved":
        return f"{name} is not solved"
    if value is None:
        return f"{name} is undecided"
    if isinstance(value, bool):
        return f"{name} is {str(value).lower()}"
    if isinstance(value, str) or told["lower"] == told["upper"]:
        return f"{name} is {value}"
    low, high = told["lower"], told["upper"]
    return f"{name} is {value:.9g}, between {low!r} and {high!r}"


def _reward_names(model: mdp.MDP) -> dict:
    kinds = (model.state_rewards, model.choice_rewards, model.branch_rewards)
    return {name: None for kind in kinds for name in kind or {}}


# ---- what is written -----------------------------------------------------------------


def _write(args: argparse.Namespace, model: mdp.MDP, answer: Any) -> None:
    if isinstance(answer, mdp.Front):
        if args.output:
            _fronts.write(args.output, answer)
        return
    if args.output:
        arrays = {"lower": answer.lower, "upper": answer.upper}
        is_text = not args.output.lower().endswith(".npz")
        clock = answer.scheduler is not None and answer.scheduler.ndim == 2
        if answer.scheduler is not None and not (clock and is_text):
            arrays["scheduler"] = answer.scheduler
        if answer.nature is not None and not is_text:
            arrays["nature"] = answer.nature
        _rows.write_rows(args.output, **arrays)
    if args.scheduler:
        if answer.scheduler is None:  # it was stopped before there was one
            raise ValueError("--scheduler: no scheduler was found")
        io.scheduler.save(answer.scheduler, args.scheduler, model)
