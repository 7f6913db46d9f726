"""Points, rectangles and cubic Bézier curves in the plane, many at once."""

import numpy as np


def distances(points: np.ndarray, others: np.ndarray) -> np.ndarray:
    """From each of `[m, 2]` to each of `[n, 2]`."""
    x, y = (points[:, None, k] - others[:, k] for k in (0, 1))
    return np.sqrt(x * x + y * y)  # `hypot` takes many times as long


def in_rectangles(points: np.ndarray, at: np.ndarray, half: np.ndarray) -> np.ndarray:
    """Whether points `[..., 2]` lie in rectangles `[n]`: bool `[..., n]`."""
    x, y = (np.abs(points[..., None, k] - at[:, k]) < half[:, k] for k in (0, 1))
    return x & y


def bezier(curves: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Points `[..., n, 2]` of cubic curves `[..., 4, 2]` at `t` `[n]` or `[..., n]`."""
    t = t[..., None]
    a, b, c, d = (curves[..., None, k, :] for k in range(4))
    s = 1 - t
    return s**3 * a + 3 * s**2 * t * b + 3 * s * t**2 * c + t**3 * d


def cut(curves: np.ndarray, start: np.ndarray, stop: np.ndarray) -> np.ndarray:
    """The parts of cubic curves between two parameters, as cubic curves."""
    ends = np.stack([start, stop])[..., None, None]

    def blossom(*which):
        points = curves
        for t in ends[list(which)]:
            points = (1 - t) * points[..., :-1, :] + t * points[..., 1:, :]
        return points

    parts = [blossom(0, 0, 0), blossom(0, 0, 1), blossom(0, 1, 1), blossom(1, 1, 1)]
    return np.concatenate(parts, axis=-2)
