"""The families once more, vertex by vertex, from their definitions.

A game is a dict from a vertex's name to its owner, priority and successors; the
vertices are in the order in which the generators number them.
"""

import itertools

EVEN, ODD = 0, 1


def clique(n, self_loops=False):
    return {
        v: (v % 2, v, [w for w in range(n) if self_loops or w != v]) for v in range(n)
    }


def ladder(n):
    return {
        v: (v % 2, v % 2, [(v + 1) % (2 * n), (v + 2) % (2 * n)]) for v in range(2 * n)
    }


def recursive_ladder(n):
    game = {}
    for i in range(n):
        mine, other = (ODD, EVEN) if i % 2 == 0 else (EVEN, ODD)
        top = 3 * i + 5
        game["a", i] = (mine, top, [("b", i), ("e", i)])
        game["b", i] = (other, top - 1, [("b", i - 1), ("c", i), ("b", i + 1)])
        game["c", i] = (mine, top - 2, [("b", i), ("e", i)])
        game["d", i] = (other, i % 2, [("b", i), ("e", i)])
        game["e", i] = (mine, i % 2, [("d", i), ("a", i + 1)])
    return _without_missing_successors(game)


def model_checker_ladder(n):
    game = {}
    for i in range(n, 0, -1):
        game["a", i] = (ODD, 2 * i, [("b", i)])
        game["b", i] = (ODD, 0, [("c", i), ("a", i - 1)])
        game["c", i] = (ODD, 2 * i - 1, [("a", i - 1)])
    game["a", 0] = (ODD, 0, [("a", n)])
    return game


def jurdzinski(depth, width):
    def sideways(line, column):
        if column == 0:
            return [(line, 1)]
        if column == 2 * width - 1:
            return [(line, column - 1), (line, column)]
        return [(line, column - 1), (line, column + 1)]

    top = 2 * depth + 2
    game = {}
    for i in range(depth):
        for j in range(width):
            up = ("above", i)
            game[up, 2 * j] = (EVEN, top - 2 * i - 1, [(i, 2 * j + 1)])
        for column in range(2 * width):
            successors = sideways(i, column)
            if column % 2 == 0:
                successors.append((("above", i), column))
            elif column < 2 * width - 1:
                successors.append(("bottom", column))
            owner = ODD if column % 2 == 0 else EVEN
            game[i, column] = (owner, top - 2 * i - 2, successors)
    for column in range(2 * width):
        rise = [(i, column) for i in range(depth)] if column % 2 else []
        game["bottom", column] = (
            column % 2,
            column % 2,
            sideways("bottom", column) + rise,
        )
    return game


def propagation(paths, length):
    """In min-parity."""
    game = {"source": (EVEN, 4, [(path, 0) for path in range(paths)])}
    for path in range(paths):
        owner, priority = (EVEN, 3) if path % 2 == 0 else (ODD, 2)
        for place in range(length):
            successors = [(path, place - 1), (path, place + 1)]
            if place == length - 1:
                successors.append("target")
            game[path, place] = (owner, priority, successors)
    game["target"] = (EVEN, 0, ["other target"])
    game["other target"] = (EVEN, 1, ["target"])
    return _without_missing_successors(game)


def propagation_tree(levels, fan_out):
    """In min-parity."""
    game = {}
    for level in range(levels):
        for node in itertools.product(range(fan_out), repeat=level):
            children = [(*node, child) for child in range(fan_out)]
            game[node] = (EVEN, 1 if node else 2, [*children, node[:-1]])
    game[()][2].remove(())  # the root has no parent
    game[(fan_out - 1,) * (levels - 1)][2].append("target")
    game["target"] = (EVEN, 0, ["other target"])
    game["other target"] = (EVEN, 0, ["target"])
    return _without_missing_successors(game)


def hanoi(disks):
    game = {}
    for digits in itertools.product(range(3), repeat=disks):
        pegs = digits[::-1]  # pegs[0] is that of the smallest disk
        successors = []
        for disk, to in itertools.product(range(disks), range(3)):
            smaller = pegs[:disk]
            if to != pegs[disk] and not {to, pegs[disk]} & set(smaller):
                successors.append((*smaller, to, *pegs[disk + 1 :]))
        game[pegs] = (EVEN, 1, successors)
    game[(2,) * disks] = (EVEN, 1, ["true"])
    game["true"] = (EVEN, 0, ["true"])
    game["false"] = (EVEN, 1, ["false"])
    return game


def elevator(floors, fair=True):
    top = floors - 1

    def step(state, button):
        requests, position, is_open = state
        if button is not None:
            others = tuple(floor for floor in requests if floor != button)
            if not fair:
                requests = (button, *others)
            elif button not in requests:
                requests = (*requests, button)
        if is_open or not requests:
            return requests, position, False
        goal = requests[0]
        position += (goal > position) - (goal < position)
        if position == goal:
            return requests[1:], position, True
        return requests, position, False

    initial = ((), 0, False)
    system, waiting = {}, [initial]
    while waiting:
        state = waiting.pop()
        if state not in system:
            system[state] = {step(state, b) for b in [None, *range(floors)]}
            waiting.extend(system[state])

    game = {}
    for state in sorted(system, key=lambda s: (len(s[0]), s)):
        requests, position, _ = state
        at_top, pressed_top = position == top, top in requests

        def here(*nodes, state=state):
            return [(state, node) for node in nodes]

        def steps(node, state=state):
            return [(following, node) for following in system[state]]

        nodes = [
            (EVEN, 2, here(1)),
            (ODD, 0, here(2, 3)),
            (ODD, 0, steps(0)),
            (EVEN, 0, here(4, 5)),
            (EVEN, 0 if at_top else 1, here(4)),
            (ODD, 0, here(6, 8)),
            (ODD, 0, steps(7)),
            (EVEN, 0, here(1)),
            (EVEN, 0, here(9, 10)),
            (EVEN, 1 if pressed_top else 0, here(9)),
            (ODD, 0, steps(11)),
            (EVEN, 1, here(1)),
        ]
        for node, vertex in enumerate(nodes):
            game[state, node] = vertex
    return game


def _without_missing_successors(game):
    return {
        name: (owner, priority, [s for s in successors if s in game])
        for name, (owner, priority, successors) in game.items()
    }
