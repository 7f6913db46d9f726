"""From a strategy to a machine."""

from collections.abc import Iterable

from jaxgames import limits, parity
from jaxgames.ltl import Automaton
from jaxgames.ltl._diagrams import FALSE, Diagrams
from jaxgames.synth._controller import Controller
from jaxgames.synth._specification import Specification
from jaxgames.synth._tables import tables


def extract(specification: Specification, game: parity.Solution) -> Controller:
    """The machine of the winner of a game, in few states."""
    winner = int(game.winner[specification.parity().initial])
    if winner < 0:
        raise ValueError("the specification is undecided: there is no strategy yet")
    own = specification.outputs if winner == 0 else specification.inputs
    other = specification.inputs if winner == 0 else specification.outputs
    graph = specification.parity().graph
    if game.strategy is None:
        raise ValueError("the game was solved without strategies")
    machine = _Machine(graph, other, own)
    moves_first = bool(specification.game().arena.owner[0]) == (winner == 1)
    rows = _moore_rows if moves_first else _mealy_rows
    return machine.reduced(rows(specification, game, machine), graph.name)


def _mealy_rows(
    specification: Specification, solution: parity.Solution, machine: "_Machine"
) -> dict[int, int]:
    """The node of each state that the machine may come to, if it moves second."""
    game = specification.game()
    arena, strategy = game.arena, solution.strategy
    assert strategy is not None
    colour = specification.parity().colour
    found: dict[int, int] = {}
    order = [specification.parity().initial]
    for q in order:
        limits.tick("making a controller", len(order), "states")
        # Whatever the first does includes one of his choices, with an end that is good.
        good = set()
        for choice in arena.successors(q).tolist():
            edge = int(strategy[choice])
            good.add((int(arena.dst[edge]), int(arena.edge_priority[edge])))
        seen = {x: i for i, x in enumerate(order)}
        edges = [
            e
            for e in range(machine.graph.offsets[q], machine.graph.offsets[q + 1])
            if (int(machine.graph.targets[e]), int(colour[e])) in good
        ]
        edges.sort(key=lambda e: seen.get(int(machine.graph.targets[e]), len(order)))
        found[q] = machine.decided(edges)
        for action in machine.actions(found[q]):
            if action[2] not in seen:
                seen[action[2]] = len(order)
                order.append(action[2])
    return found


def _moore_rows(
    specification: Specification, solution: parity.Solution, machine: "_Machine"
) -> dict[int, int]:
    """The same if it moves first: what it writes is settled by the state."""
    game = specification.game()
    arena, strategy = game.arena, solution.strategy
    assert strategy is not None
    found: dict[int, int] = {}
    order = [specification.parity().initial]
    seen = set(order)
    for q in order:
        limits.tick("making a controller", len(order), "states")
        choice = int(arena.dst[int(strategy[q])])
        must, _ = game.witness[q, choice]
        found[q] = machine.following(q, must)
        for _, _, target in machine.actions(found[q]):
            if target not in seen:
                seen.add(target)
                order.append(target)
    return found


class _Machine:
    """Nodes of a machine that is being made; what is read is above what is written."""

    def __init__(
        self, graph: Automaton, reads: tuple[str, ...], writes: tuple[str, ...]
    ):
        self.graph = graph
        self._reads, self._writes = reads, writes
        names = (*reads, *writes)
        self._levels = [names.index(x) for x in graph.propositions]
        self._store = Diagrams(self._levels)
        self._below = len(reads)
        self._known: dict[tuple, int] = {}

    def decided(self, edges: list[int]) -> int:
        """A node that, whatever is read, writes what one of some edges asks for.

        The first edge that can be taken is.
        """
        graph = self.graph
        nodes = tuple(self._store.guard(graph.guard(e)) for e in edges)
        return self._first(nodes, tuple(int(graph.targets[e]) for e in edges))

    def following(self, q: int, output: int) -> int:
        """A node that writes something whatever it reads, and goes where that leads."""
        graph, store = self.graph, self._store
        written = sum(
            1 << i
            for i, name in enumerate(self._writes)
            if output >> graph.propositions.index(name) & 1
        )
        fixed = store.cube(output, graph.letter(self._writes) & ~output)
        edges = range(graph.offsets[q], graph.offsets[q + 1])
        nodes = tuple(store.both(store.guard(graph.guard(e)), fixed) for e in edges)
        targets = tuple(int(graph.targets[e]) for e in edges)
        found = self._first(nodes, targets)
        assert all(action[0] == written for action in self.actions(found))
        return found

    def _first(self, nodes: tuple[int, ...], targets: tuple[int, ...]) -> int:
        """What is read decides among functions, of which the first that can hold is."""
        pairs = [(n, t) for n, t in zip(nodes, targets, strict=True) if n != FALSE]
        key = tuple(pairs)
        if key in self._known:
            return self._known[key]
        store = self._store
        level = min(store.level[node] for node, _ in pairs)
        if level < self._below:
            left = tuple(t for _, t in pairs)
            sides = [
                self._first(
                    tuple(store.cofactors(n, level)[side] for n, _ in pairs), left
                )
                for side in (0, 1)
            ]
            found = store.node(level, *sides)
        else:
            # Only what is written is left open: what need not hold, does not.
            node, target = pairs[0]
            values, _ = store.some_path(node)
            output = sum(1 << level - self._below for level, on in values.items() if on)
            found = store.terminal((output, 0, target))
        self._known[key] = found
        return found

    def actions(self, node: int) -> list[tuple[int, int, int]]:
        """The actions below a node."""
        store, seen, work, found = self._store, {node}, [node], []
        while work:
            node = work.pop()
            if node in store.value:
                found.append(store.value[node])
                continue
            for side in (store.high[node], store.low[node]):
                if side not in seen:
                    seen.add(side)
                    work.append(side)
        return found

    def reduced(self, rows: dict[int, int], name: str) -> Controller:
        """The machine with states united that answer alike (Moore's algorithm)."""
        states = list(rows)
        block = dict.fromkeys(states, 0)
        count = 1
        nodes = self._below_first(rows.values())
        while True:
            limits.tick("reducing a controller", count, "states")
            kinds = self._kinds(nodes, block)
            numbers: dict[tuple[int, int], int] = {}
            finer = {
                q: numbers.setdefault((block[q], kinds[rows[q]]), len(numbers))
                for q in states
            }
            if len(numbers) == count:
                break
            block, count = finer, len(numbers)
        leaders: dict[int, int] = {}
        for q in states:
            leaders.setdefault(block[q], q)
        number = {b: i for i, b in enumerate(leaders)}
        final = {q: number[block[q]] for q in states}
        store, memo = Diagrams(), {}
        roots = [self._copied(store, memo, rows[q], final) for q in leaders.values()]
        return Controller.from_arrays(
            self._reads, self._writes, **tables(store, roots), name=name
        )

    def _below_first(self, roots: Iterable[int]) -> list[int]:
        """The nodes that some lead to, each behind those that it leads to."""
        store, found = self._store, set(roots)
        work = list(found)
        while work:
            node = work.pop()
            for side in {store.low[node], store.high[node]} - found:
                found.add(side)
                work.append(side)
        return sorted(found)  # a store makes nodes in that order

    def _kinds(self, nodes: list[int], block: dict[int, int]) -> dict[int, int]:
        """A number for each node; two have the same one if they answer alike.

        Nodes are behind those that they lead to; states of a block are not told apart.
        """
        store = self._store
        found: dict[int, int] = {}
        numbers: dict[tuple, int] = {}
        for node in nodes:
            if node in store.value:
                output, _, target = store.value[node]  # type: ignore
                key = output, block[target]
            else:
                low, high = found[store.low[node]], found[store.high[node]]
                if low == high:
                    found[node] = low
                    continue
                key = store.level[node], low, high
            found[node] = numbers.setdefault(key, len(numbers))
        return found

    def _copied(self, store: Diagrams, memo: dict, node: int, block: dict[int, int]):
        """The same function in another store, with other names of states."""
        if node not in memo:
            own = self._store
            if node in own.value:
                output, _, target = own.value[node]  # type: ignore
                memo[node] = store.terminal((output, block[target]))
            else:
                sides = (
                    self._copied(store, memo, side, block)
                    for side in (own.low[node], own.high[node])
                )
                memo[node] = store.node(own.level[node], *sides)
        return memo[node]
