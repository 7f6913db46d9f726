"""Reading of Storm's DRN: the header, then stretches of lines."""

import re
from collections.abc import Iterator
from typing import NamedTuple, NoReturn

import numpy as np

from jaxgames.arena import MAX_SIZE
from jaxgames.io import _drn_loop, _drn_values, _lines, _models, _pieces
from jaxgames.io._files import FilePath, FormatError
from jaxgames.mdp import MDP
from jaxgames.quoting import quoted

NO_LABEL = "__NOLABEL__"
"""Written as the label of a choice without one."""

_STATE, _ACTION, _BRANCH = _drn_loop.STATE, _drn_loop.ACTION, _drn_loop.BRANCH


def read(path: FilePath) -> MDP:
    """Reads a model; see `drn.load`."""
    header: _Header | None = None

    def rows(byte: np.ndarray, before: int) -> _drn_loop.Stretch | None:
        if header is None:  # it is long
            return None
        return _drn_loop.read(byte, before, header.states - 1)

    stretches = _lines.read_rows(path, rows)
    header, first = _header(path, stretches)
    body = _Body(path, header)
    body.add(first)
    for stretch in stretches:
        if isinstance(stretch, _lines.Lines):
            body.add(stretch)
        else:
            body.add_read(stretch)
    return body.model()


class _Header(NamedTuple):
    type: str
    rewards: list[str]
    states: int
    choices: int | None
    intervals: bool


def _header(path: FilePath, stretches: Iterator) -> tuple[_Header, _lines.Lines]:
    """What comes before the states, and the rest of the stretch in which it ends."""
    found: dict[str, list[str]] = {}
    section = ""
    for lines in stretches:
        texts = lines.texts(lines.first[:-1], lines.first[1:] - 1)
        for line, text in enumerate(x.decode(errors="replace") for x in texts):
            if text.startswith("//"):
                continue
            if text.startswith("@"):
                section, _, value = text.partition(":")
                found[section] = [value.strip()] if value.strip() else []
                if section == "@model":
                    return _checked(lines, line, found), lines.skip(line + 1)
                _check_section(lines, line, section, value.strip())
            elif not section:
                lines.fail(
                    line, f"expected '@type: MDP', DTMC or CTMC, found {quoted(text)}"
                )
            else:
                if section in ("@parameters", "@placeholders"):
                    lines.fail(line, f"models with {section[1:]} are not supported")
                found[section] += [text]
    raise FormatError(path, None, "the file has no section '@model'")


def _check_section(lines: _lines.Lines, line: int, section: str, value: str) -> None:
    known = {
        "@type": ("MDP", "DTMC", "CTMC"),
        "@value_type": ("double", "rational", "double-interval", "rational-interval"),
    }.get(section)
    if known and value not in known:
        lines.fail(
            line, f"expected {section} {' or '.join(known)}, found {quoted(value)}"
        )


def _checked(lines: _lines.Lines, line: int, found: dict) -> _Header:
    def number(section: str) -> int:
        text = " ".join(found[section])
        if (
            not (text.isascii() and text.isdigit())
            or len(text) > 18
            or int(text) > MAX_SIZE
        ):
            expected = f"expected a number up to {MAX_SIZE} in section '{section}'"
            lines.fail(line, f"{expected}, found {quoted(text)}")
        return int(text)

    for section in ("@type", "@nr_states"):
        if section not in found:
            lines.fail(line, f"expected section '{section}' before '@model'")
    return _Header(
        type=found["@type"][0],
        rewards=" ".join(found.get("@reward_models", [])).split(),
        states=number("@nr_states"),
        choices=number("@nr_choices") if "@nr_choices" in found else None,
        intervals=found.get("@value_type", [""])[0].endswith("-interval"),
    )


class _Notes:
    """What follows a state or an action: rewards and labels.

    Files repeat few of these texts very often, so that each is taken apart once.
    """

    def __init__(self, rewards: int, timed: bool = False):
        self.exits: list[float] = []
        """Rates at which states are left; nan where none is given."""
        self._timed = timed
        self.rewards: list[tuple[float, ...]] = []
        self.labels: list[tuple[str, ...]] = []
        self.wide: set[int] = set()
        """The numbers of rewards that are intervals."""
        self._known: dict[bytes, int] = {}
        self._expected = rewards
        self._reals = _lines.Reals()

    def codes(self, lines: _lines.Lines, which: np.ndarray, words: int) -> np.ndarray:
        """Numbers of the texts that follow after that many words of some lines."""
        first, last = lines.first[which] + words, lines.first[which + 1] - 1
        codes = np.empty(len(which), np.int32)
        some = np.flatnonzero(last >= first)
        codes[last < first] = self._code(lines, 0, b"") if len(some) < len(which) else 0
        codes[some] = lines.codes(
            first[some],
            last[some],
            lambda k, text: self._code(lines, int(which[some[k]]), text),
        )
        return codes

    def numbered(self, path: FilePath, found: _drn_loop.Notes, line: np.ndarray):
        """Numbers of texts that were found; `line` is the number of each one's line."""
        nothing = np.zeros(0, np.int32)
        lines = _lines.Lines(path, nothing, nothing, nothing, nothing, line)
        codes = [
            self._code(lines, place, text)
            for place, text in zip(found.first.tolist(), found.texts, strict=True)
        ]
        return np.array(codes, np.int32)[found.which]

    def _code(self, lines: _lines.Lines, line: int, text: bytes) -> int:
        if text in self._known:
            return self._known[text]
        rewards: tuple[float, ...] = ()
        labels = []
        # Rewards may be intervals, and a name may begin with `!` where no rate follows.
        shape = r'\[((?:[^\[\]]|\[[^\[\]]*\])*)\]|"([^"]*)"'
        shape += r'|((?:![^\s"\[\]\d.]|[^\s"\[\]{}!])[^\s"\[\]]*)|(\S+)'
        exit_ = float("nan")
        for match in re.finditer(shape, text.decode(errors="replace")):
            if match[4] is not None:
                if self._timed and match[4][0] == "!":
                    exit_ = self._rate(lines, line, match[4][1:])
                    continue
                found = quoted(match[4])
                lines.fail(line, f"expected '[rewards]' and labels, found {found}")
            if match[1] is not None:
                try:
                    rewards = self._numbers(match[1].encode())
                except (_lines.NotANumberError, ValueError):
                    lines.fail(line, f"expected rewards, found {quoted(match[0])}")
                if len(rewards) != self._expected:
                    lines.fail(
                        line,
                        f"expected {self._expected} rewards, found {len(rewards)}",
                    )
            else:
                labels.append(match[2] if match[3] is None else match[3])
        self.exits.append(exit_)
        self.rewards.append(rewards)
        self.labels.append(tuple(labels))
        return self._known.setdefault(text, len(self._known))

    def _rate(self, lines: _lines.Lines, line: int, text: str) -> float:
        """The rate after `!`."""
        try:
            found = self._reals[text.encode()]
        except (_lines.NotANumberError, ValueError):
            found = -1.0
        if not 0 <= found < np.inf:
            lines.fail(line, f"expected a rate after '!', found {quoted(text)}")
        return found

    def _numbers(self, text: bytes) -> tuple[float, ...]:
        """The rewards between brackets; of intervals the lower bounds."""
        if b"[" not in text:
            return tuple(self._reals[word.strip()] for word in text.split(b","))
        found = []
        for word in re.findall(rb"\[[^\]]*\]|[^,\[\s]+", text):
            ends = word.strip(b"[]").split(b",")
            lower, upper = (self._reals[ends[k].strip()] for k in (0, -1))
            if lower != upper or len(ends) > 2:
                self.wide.add(len(found))
            found.append(lower)
        return tuple(found)

    def reward(self, codes: np.ndarray, number: int) -> np.ndarray | None:
        """One reward of each entry, None where no entry has any."""
        if not any(self.rewards):
            return None
        values = [rewards[number] if rewards else 0.0 for rewards in self.rewards]
        return np.array(values)[codes]


class _Body:
    """The lines after `@model`, gathered stretch by stretch."""

    def __init__(self, path: FilePath, header: _Header):
        self._path = path
        self._header = header
        # Storm leaves out the name of a reward model that has none.
        self._rewards = header.rewards or [""]
        count, timed = len(self._rewards), header.type == "CTMC"
        self._notes = {_STATE: _Notes(count, timed), _ACTION: _Notes(count)}
        none = np.empty(0, np.int32)
        self._codes = {_STATE: [none], _ACTION: [none]}
        # How many actions come before each state, how many branches before each action.
        self._offsets = {_STATE: [none], _ACTION: [none]}
        self._numbers = {_STATE: [none], _BRANCH: [none]}
        self._targets = [none]
        self._lower, self._upper = [np.empty(0)], [np.empty(0)]
        self._values: list[bytes] = []
        self._valued: list[np.ndarray] = [np.empty(0, np.int64)]
        self._counts = [0, 0, 0]
        self._last = _BRANCH, 0
        self._reals = _lines.Reals()

    def add_read(self, found: _drn_loop.Stretch) -> None:
        """Adds lines that were read by machine code."""
        self._values += found.values
        self._valued.append(self._counts[_STATE] - 1 + found.valued)
        if found.kinds[0] < 0:
            return
        self._targets.append(found.branch[0])
        self._lower.append(found.prob)
        self._upper.append(found.prob)
        state, line, choices_before = found.state
        expected = self._counts[_STATE] + np.arange(len(state))
        wrong = np.flatnonzero(state != expected)
        if len(wrong):
            what = f"expected state {expected[wrong[0]]}: states come in order"
            message = f"{what}, found {quoted(str(state[wrong[0]]))}"
            raise FormatError(self._path, int(line[wrong[0]]), message)
        of_states, of_actions = found.notes
        kinds = (_STATE, of_states, line), (_ACTION, of_actions, found.action[1])
        for kind, notes, lines in kinds:
            codes = self._notes[kind].numbered(self._path, notes, lines)
            self._codes[kind].append(codes)
        self._check_order(found.kinds[:1], found.numbers[:1])
        self._last = int(found.kinds[1]), int(found.numbers[1])
        self._count(line, choices_before, found.action[0], found.branch[1])

    def _count(self, states, choices_before, branches_before, branches) -> None:
        """Notes lines, and what comes before them in their stretch."""
        self._offsets[_STATE].append(choices_before + np.int32(self._counts[_ACTION]))
        self._offsets[_ACTION].append(branches_before + np.int32(self._counts[_BRANCH]))
        self._numbers[_STATE].append(states)
        self._numbers[_BRANCH].append(branches)
        for kind, more in enumerate((states, branches_before, branches)):
            self._counts[kind] += len(more)

    def add(self, lines: _lines.Lines) -> None:
        """Reads some lines."""
        first = lines.first[:-1]
        comments = lines.start_with(first, "//")
        values = comments & lines.start_with(first, _drn_values.START)
        self._note_values(lines, values, lines.start_with(first, "state"))
        lines = lines.keep(~comments)
        kinds = self._told_apart(lines)
        if not len(lines.number):
            return
        numbers = lines.number.astype(np.int32)
        place = [np.flatnonzero(kinds == kind) for kind in range(3)]
        self._add_branches(lines, place[_BRANCH])
        self._add_states(lines, place[_STATE])
        actions = self._notes[_ACTION].codes(lines, place[_ACTION], 1)
        self._codes[_ACTION].append(actions)
        self._check_order(kinds, numbers)
        choices, branches = (
            np.cumsum(kinds == kind, dtype=np.int32) for kind in (_ACTION, _BRANCH)
        )
        self._count(
            numbers[place[_STATE]],
            choices[place[_STATE]],
            branches[place[_ACTION]],
            numbers[place[_BRANCH]],
        )

    def _check_order(self, kinds: np.ndarray, numbers: np.ndarray) -> None:
        """Every state has actions, and every action branches."""
        if not self._last[1] and kinds[0] != _STATE:
            message = "expected 'state 0' before this"
            raise FormatError(self._path, int(numbers[0]), message)
        wrong = (kinds[:-1] == _ACTION) & (kinds[1:] != _BRANCH)
        wrong |= (kinds[:-1] == _STATE) & (kinds[1:] != _ACTION)
        if self._last[0] != _BRANCH and kinds[0] != self._last[0] + 1:
            self._refuse_last()
        if wrong.any():
            line = int(np.argmax(wrong))
            self._last = int(kinds[line]), int(numbers[line])
            self._refuse_last()
        self._last = int(kinds[-1]), int(numbers[-1])

    def _refuse_last(self) -> NoReturn:
        """Refuses a state or an action after which something is missing."""
        kind, line = self._last
        what, needs = "state", "an action"
        if kind == _ACTION:
            what, needs = "action", "a transition, 'target : probability',"
        raise FormatError(self._path, line, f"expected {needs} after this {what}")

    def _told_apart(self, lines: _lines.Lines) -> np.ndarray:
        """Tells lines apart by whole arrays: int8 `[L]`."""
        first, initials = lines.first[:-1], lines.initials
        kinds = np.full(len(first), _BRANCH, np.int8)
        for kind, word in ((_STATE, "state"), (_ACTION, "action")):
            found = np.flatnonzero(initials == ord(word[0]))
            whole = lines.end[first[found]] - lines.start[first[found]] == len(word)
            found = found[whole & lines.start_with(first[found], word)]
            kinds[found] = kind
            single = np.flatnonzero(lines.count[found] < 2)
            if len(single):
                lines.fail(int(found[single[0]]), f"expected a name after '{word}'")
        self._check_branches(lines, np.flatnonzero(kinds == _BRANCH))
        return kinds

    def _note_values(
        self, lines: _lines.Lines, values: np.ndarray, states: np.ndarray
    ) -> None:
        """Notes comments with the values of a state's variables."""
        some = np.flatnonzero(values)
        if len(some):
            first, last = lines.first[some], lines.first[some + 1] - 1
            self._values += lines.texts(first, last)
            self._valued.append(self._counts[_STATE] + np.cumsum(states)[some] - 1)

    def _add_states(self, lines: _lines.Lines, which: np.ndarray) -> None:
        words = lines.first[which] + 1
        states = lines.integers(words, "a state", 0, self._header.states - 1)
        former = self._counts[_STATE]
        wrong = np.flatnonzero(states != former + np.arange(len(states)))
        if len(wrong):
            expected = f"state {former + wrong[0]}: states come in order"
            lines.refuse(int(words[wrong[0]]), expected)
        self._codes[_STATE].append(self._notes[_STATE].codes(lines, which, 2))

    def _check_branches(self, lines: _lines.Lines, which: np.ndarray) -> None:
        first, count = lines.first[which], lines.count[which]
        second = np.minimum(first + 2, len(lines.start) - 1)
        whole = (count == 3) | ((count == 4) & lines.start_with(second, "["))
        colon = np.minimum(first + 1, len(lines.start) - 1)
        whole &= lines.start_with(colon, ":")
        whole &= lines.end[colon] - lines.start[colon] == 1
        if not whole.all():
            line = int(which[np.argmin(whole)])
            expected = "expected 'state', 'action' or 'target : probability'"
            lines.fail(line, f"{expected}, found {quoted(lines.text(line))}")

    def _add_branches(self, lines: _lines.Lines, which: np.ndarray) -> None:
        first, count = lines.first[which], lines.count[which]
        targets = lines.integers(first, "a target", 0, self._header.states - 1)
        lower, upper = lines.intervals(
            first + 2, "a probability", self._reals, first + count - 1
        )
        _models.refuse_negative(lines, first + 2, lower)
        self._targets.append(targets.astype(np.int32))
        self._lower.append(lower)
        self._upper.append(upper)

    def model(self) -> MDP:
        """The model that all lines together are."""
        path, header, notes = self._path, self._header, self._notes
        if self._last[0] != _BRANCH:
            self._refuse_last()
        states, actions, branches = self._counts
        is_chain = header.type in ("DTMC", "CTMC")
        choices = header.states if is_chain else header.choices
        _lines.check_count(path, header.states, states, "state")
        _lines.check_count(path, choices, actions, "choice")
        codes = {kind: _pieces.joined(parts) for kind, parts in self._codes.items()}
        labels = _models.named_sets(path, codes[_STATE], notes[_STATE].labels)
        initial = labels.pop("init", None)
        state_rewards, choice_rewards, left_out = {}, {}, []
        for number, name in enumerate(self._rewards):
            if any(number in kind.wide for kind in notes.values()):
                left_out.append(f"rewards {quoted(name)}, which are intervals")
                continue
            of_states = notes[_STATE].reward(codes[_STATE], number)
            of_choices = notes[_ACTION].reward(codes[_ACTION], number)
            # Storm writes both for all, with zeros for those that are not there.
            if of_choices is not None and (of_choices.any() or of_states is None):
                choice_rewards[name] = of_choices
            if of_states is not None and (
                of_states.any() or name not in choice_rewards
            ):
                state_rewards[name] = of_states
        valuations = {}
        if np.array_equal(np.concatenate(self._valued), np.arange(header.states)):
            valuations, unnamed = _drn_values.read(self._values)
            left_out += unnamed
        _models.say_left_out(path, left_out, "a model has no place for them")
        # Numbers that are no intervals are joined once.
        pairs = zip(self._lower[1:], self._upper[1:], strict=True)
        lower = upper = _pieces.joined(self._lower)
        if not all(a is b for a, b in pairs):
            upper = _pieces.joined(self._upper)
        intervals = header.intervals or not (
            lower is upper or np.array_equal(lower, upper)
        )
        names = [
            [label for label in labels if label != NO_LABEL and not label.isdigit()]
            for labels in notes[_ACTION].labels
        ]
        groups = _pieces.joined([*self._offsets[_STATE], np.array([actions], np.int32)])
        rows = _pieces.joined([*self._offsets[_ACTION], np.array([branches], np.int32)])
        exits = None
        if header.type == "CTMC":
            if intervals:
                raise FormatError(path, None, "intervals of rates are not supported")
            given = np.array(notes[_STATE].exits)[codes[_STATE]]
            lines = np.concatenate(self._numbers[_STATE])
            exits, lower = _timed(path, lines, rows, given, lower)
        return _models.build(
            path,
            groups,
            rows,
            _pieces.joined(self._targets),
            None if intervals else lower,
            _pieces.joined(self._numbers[_BRANCH]),
            lower=lower if intervals else None,
            upper=upper if intervals else None,
            exit_rates=exits,
            valuations=valuations or None,
            initial=None if initial is None else np.flatnonzero(initial),
            labels=labels or None,
            choice_labels=_models.named_sets(path, codes[_ACTION], names) or None,
            state_rewards=state_rewards or None,
            choice_rewards=choice_rewards or None,
        )


def _timed(
    path: FilePath,
    numbers: np.ndarray,
    ends: np.ndarray,
    given: np.ndarray,
    rates: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Exit rates and probabilities, of a chain in continuous time.

    Its branches have rates, whose sum the state may tell; or probabilities beside that.
    """
    sums = np.add.reduceat(rates, ends[:-1]) if len(rates) else np.zeros(0)
    sums = np.where(np.diff(ends) > 0, sums, 0.0)
    as_given = np.abs(sums - given) <= SUM_TOLERANCE * np.abs(given)
    as_chances = np.abs(sums - 1) <= SUM_TOLERANCE
    wrong = ~np.isnan(given) & ~as_given & ~as_chances
    if wrong.any():
        state = int(np.argmax(wrong))
        raise FormatError(
            path,
            int(numbers[state]),
            f"state {state} is left at rate {given[state]:g}, but its rates sum up to "
            f"{sums[state]:g}",
        )
    exits = np.where(np.isnan(given) | as_given, sums, given)
    bad = ~((exits > 0) & (exits < np.inf) & (sums > 0))
    if bad.any():
        state = int(np.argmax(bad))
        raise FormatError(
            path, int(numbers[state]), f"state {state} has no positive rate"
        )
    return exits, rates / np.repeat(sums, np.diff(ends))


SUM_TOLERANCE = 1e-5
"""How far, relatively, rates may be from their sum, since files round."""
