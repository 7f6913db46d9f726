"""From a strategy to a machine."""

from collections.abc import Callable

from jaxgames import limits, parity
from jaxgames.ltl import Automaton
from jaxgames.ltl._diagrams import FALSE, Diagrams
from jaxgames.synth._controller import Controller
from jaxgames.synth._specification import Specification
from jaxgames.synth._tables import tables

# The node of a state, by the numbers of the states that are known.
Step = Callable[[int, dict[int, int]], int]


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
    node = (_moore if moves_first else _mealy)(specification, game, machine)
    found: dict[int, int] = {}
    number = {specification.parity().initial: 0}
    order = list(number)
    for q in order:
        limits.tick("making a controller", len(order), "states")
        found[q] = node(q, number)
        for _, target in machine.actions(found[q]):
            if target not in number:
                number[target] = len(order)
                order.append(target)
    return machine.reduced(found, graph.name)


def _mealy(
    specification: Specification, solution: parity.Solution, machine: "_Machine"
) -> Step:
    """What makes the node of a state, if the machine moves second."""
    arena, strategy = specification.game().arena, solution.strategy
    assert strategy is not None
    colour, graph = specification.parity().colour, machine.graph

    def node(q: int, number: dict[int, int]) -> int:
        # Whatever the first does includes one of his choices, with an end that is good.
        good = set()
        for choice in arena.successors(q).tolist():
            edge = int(strategy[choice])
            good.add((int(arena.dst[edge]), int(arena.edge_priority[edge])))
        edges = [
            e
            for e in range(graph.offsets[q], graph.offsets[q + 1])
            if (int(graph.targets[e]), int(colour[e])) in good
        ]
        edges.sort(key=lambda e: number.get(int(graph.targets[e]), len(number)))
        return machine.decided(edges)

    return node


def _moore(
    specification: Specification, solution: parity.Solution, machine: "_Machine"
) -> Step:
    """The same if it moves first: what it writes is settled by the state."""
    game, strategy = specification.game(), solution.strategy
    assert strategy is not None

    def node(q: int, number: dict[int, int]) -> int:
        must, _ = game.witness[q, int(game.arena.dst[int(strategy[q])])]
        return machine.following(q, must)

    return node


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
            values = store.some_path(node).items()
            output = sum(1 << level - self._below for level, on in values if on)
            found = store.terminal((output, target))
        self._known[key] = found
        return found

    def actions(self, node: int) -> list[tuple[int, int]]:
        """The actions below a node: what is written, and the state that is next."""
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
        """The machine of the nodes of states, in as few states as there may be."""
        number = {q: i for i, q in enumerate(rows)}
        found = tables(self._store, list(rows.values()))
        found["successor"] = [number[q] for q in found["successor"]]
        made = Controller.from_arrays(self._reads, self._writes, **found, name=name)
        return made.reduced()
