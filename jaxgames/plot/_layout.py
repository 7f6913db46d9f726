"""Where the vertices of a drawing go, and how its edges run."""

import numpy as np

from jaxgames.arena import Arena
from jaxgames.plot._geometry import bezier, cut, distances, in_rectangles
from jaxgames.plot._page import SMALL, text_width


def place_vertices(arena: Arena, half: np.ndarray, names, labels) -> np.ndarray:
    """Centres of the vertices `[V, 2]`: components one after the other, in rows."""
    size, edges = arena.shape
    distance = _steps_between(arena)

    room = half.copy()
    for v, name in enumerate(names):
        if name:
            room[v] = max(half[v, 0], text_width(name, SMALL) / 2), half[v, 1] + 7
    length = 40 + max((text_width(label, SMALL) for label in labels), default=0)
    length *= max(1, np.sqrt(edges / 3 / max(1, size)))
    places = []
    together = distance < np.inf
    # A component begins with a vertex that no earlier one is together with.
    for v in np.flatnonzero(~np.tril(together, -1).any(1)):
        part = np.flatnonzero(together[v])
        at = _stress_layout(distance[np.ix_(part, part)], length, room[part])
        places.append((part, at - (at - room[part]).min(0)))
    places.sort(key=lambda place: -len(place[0]))

    sizes = [(at + room[part]).max(0) for part, at in places]
    row_width = max(
        [1.5 * np.sqrt(sum(w * h for w, h in sizes)), *(w for w, _ in sizes)], default=0
    )
    result = np.zeros((size, 2))
    x = y = row_height = 0.0
    for (part, at), (width, height) in zip(places, sizes, strict=True):
        if x > 0 and x + width > row_width:
            x, y, row_height = 0.0, y + row_height + 40, 0.0
        result[part] = at + (x, y)
        x, row_height = x + width + 40, max(row_height, height)
    return result


def _steps_between(arena: Arena) -> np.ndarray:
    """Edges between vertices `[V, V]`, walked either way; inf where there is no path.

    Searches breadth first from all vertices at once: O(V^3) a layer, for few vertices.
    """
    size = arena.shape[0]
    # Whole numbers up to V: exact, and products of floats are what NumPy is fast at.
    beside = np.zeros((size, size), np.float32)
    beside[arena.src, arena.dst] = beside[arena.dst, arena.src] = 1
    distance = np.where(np.eye(size, dtype=bool), 0, np.inf)
    layer, steps = np.eye(size, dtype=np.float32), 0
    while layer.any():
        steps += 1
        new = (layer @ beside > 0) & (distance == np.inf)
        distance[new] = steps
        layer = new.astype(np.float32)
    return distance


def _stress_layout(distance: np.ndarray, length: float, room: np.ndarray) -> np.ndarray:
    """Places `[n, 2]` whose distances are near those given, by majorization.

    Edges become about `length` long between rectangles of half sizes `room`, longer
    where there is a crowd; then the rectangles are pushed apart.
    """
    size = len(distance)
    if size == 1:
        return np.zeros((1, 2))
    # Classical scaling is the start; the spiral parts points that coincide.
    square = distance**2
    square = square - square.mean(0) - square.mean(1)[:, None] + square.mean()
    values, vectors = np.linalg.eigh(-square / 2)
    at = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0))
    angle = 2.4 * np.arange(size)
    at = at + 0.1 * np.stack([np.cos(angle), np.sin(angle)], 1)

    weight = 1 / (distance + np.eye(size)) ** 2 - np.eye(size)
    # The pseudoinverse: all the matrix does not see is what all move alike.
    alike = 1 / size
    inverse = np.linalg.inv(np.diag(weight.sum(1)) - weight + alike) - alike
    for _ in range(300):
        pull = weight * distance / np.maximum(distances(at, at), 1e-9)
        at = inverse @ (pull.sum(1)[:, None] * at - pull @ at)

    at = at - at.mean(0)
    _, axes = np.linalg.eigh(at.T @ at)
    at = at @ axes[:, ::-1]  # the longest way across
    at = np.where(at[0] > 0, -at, at)

    nearest = np.percentile(np.sort(distances(at, at))[:, 1], 20)
    length = length + 2 * room.mean()
    crowded = (2 * room.mean() + 30) / max(nearest, 1e-9)
    return _separate(at * np.clip(crowded, length, 1.4 * length), room + 11)


def _separate(at: np.ndarray, room: np.ndarray) -> np.ndarray:
    """Pushes rectangles of half sizes `room` apart until none overlap."""
    order = np.arange(len(at))
    tie = np.sign(order[:, None] - order)
    for _ in range(500):
        apart = [at[:, None, k] - at[:, k] for k in (0, 1)]
        x, y = (room[:, None, k] + room[:, k] - np.abs(apart[k]) for k in (0, 1))
        clash = (x > 1e-3) & (y > 1e-3) & (tie != 0)
        if not clash.any():
            break
        push = [np.where(clash & (x <= y), x, 0), np.where(clash & (x > y), y, 0)]
        sides = [np.where(d == 0, tie, np.sign(d)) for d in apart]
        at = at + np.stack(
            [(s * p).sum(1) / 2 for s, p in zip(sides, push, strict=True)], 1
        )
    return at


def route_edges(arena: Arena, at: np.ndarray, half: np.ndarray) -> np.ndarray:
    """Cubic curves `[E, 4, 2]` from border to border.

    Edges bend round vertices in their way, and edges between the same two vertices
    bend apart; self-loops go where there is most room.
    """
    bundles: dict[tuple[int, int], list[int]] = {}
    ends = zip(arena.src.tolist(), arena.dst.tolist(), strict=True)
    for e, (u, v) in enumerate(ends):
        bundles.setdefault((min(u, v), max(u, v)), []).append(e)

    curves = np.tile(at[arena.src][:, None], (1, 4, 1))
    for (u, v), edges in bundles.items():
        if u == v:
            continue
        # Bends 0, 1, -1, 2, -2, ...; an even bundle leaves the straight line free.
        steps = np.arange(len(edges) + 6)
        bends = 0.18 * ((steps + 1) // 2) * np.where(steps % 2, 1, -1)
        if len(edges) % 2 == 0:
            bends = bends[1:]
        along = at[v] - at[u]
        middle = (at[u] + at[v]) / 2 + bends[:, None] * (-along[1], along[0])
        options = np.empty((len(bends), 4, 2))
        options[:, 0], options[:, 3] = at[u], at[v]
        options[:, 1] = (at[u] + 2 * middle) / 3
        options[:, 2] = (at[v] + 2 * middle) / 3
        others = np.delete(np.arange(len(at)), [u, v])
        points = bezier(options, np.linspace(0.05, 0.95, 25))
        hits = in_rectangles(points, at[others], half[others] + 3).sum((1, 2))
        best = np.argsort(hits + np.abs(bends), kind="stable")[: len(edges)]
        for e, curve in zip(edges, options[best], strict=True):
            curves[e] = curve if arena.src[e] == u else curve[::-1]

    busy = np.vstack([at, bezier(curves, np.linspace(0, 1, 25)).reshape(-1, 2)])
    angles = np.arange(16) * np.pi / 8 - np.pi / 2
    for (u, v), edges in bundles.items():
        for k, e in enumerate(edges if u == v else []):
            reach = half[v].mean() + 34 + 10 * k
            options = np.tile(at[v], (len(angles), 4, 1))
            for corner, turn in ((1, -0.45), (2, 0.45)):
                options[:, corner, 0] += reach * np.cos(angles + turn)
                options[:, corner, 1] += reach * np.sin(angles + turn)
            points = bezier(options, np.linspace(0.25, 0.75, 9))
            away = distances(points.reshape(-1, 2), busy).min(1)
            away = away.reshape(len(angles), -1).min(1)
            curves[e] = options[np.minimum(away, 12).argmax()]
            busy = np.vstack([busy, bezier(curves[e], np.linspace(0.2, 0.8, 15))])
    return _trim(arena, curves, half)


def _trim(arena: Arena, curves: np.ndarray, half: np.ndarray) -> np.ndarray:
    """Cuts curves that run from centre to centre where they cross the borders."""

    def crossing(vertex, inside, outside):
        inside, outside = np.full((2, len(vertex), 1), [[[inside]], [[outside]]])
        centre = bezier(curves, inside)
        owner, reach = arena.owner[vertex][:, None], half[vertex][:, None] + 1
        for _ in range(20):
            middle = (inside + outside) / 2
            away = np.abs(bezier(curves, middle) - centre) / reach
            within = np.where(owner, away.max(-1), away.sum(-1)) < 1
            inside = np.where(within, middle, inside)
            outside = np.where(within, outside, middle)
        return outside[:, 0]

    return cut(curves, crossing(arena.src, 0, 0.5), crossing(arena.dst, 1, 0.5))
