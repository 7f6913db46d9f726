"""Pictures: Graphviz text, SVG, PNG, charts of large games, notebooks."""

import collections
import re
import shutil
import subprocess
import sys
import types
import xml.etree.ElementTree as ET

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.sparse import csgraph, csr_array

from jaxgames import Arena, generate, plot
from jaxgames.plot import _layout

SVG = "{http://www.w3.org/2000/svg}"

needs_dot = pytest.mark.skipif(
    shutil.which("dot") is None, reason="Graphviz (dot) is not installed"
)

ODD_NAMES = [
    'say "hi"',
    "back\\slash",
    "ends with \\",
    "two\nlines",
    "<b>&amp; x</b>",
    "\\N and %d",
    "$x_1^2$",
    "größer → ∞",
    "",
    None,
]


def random_arena(seed, vertices, edges, **labels):
    """Every vertex has an edge; the others are anywhere, loops and parallels too."""
    rng = np.random.default_rng(seed)
    more = rng.integers(0, vertices, max(edges - vertices, 0))
    src = np.concatenate([np.arange(vertices), more])
    return Arena.from_edges(
        src,
        rng.integers(0, vertices, len(src)),
        owner=rng.integers(0, 2, vertices),
        priority=rng.integers(0, 30, vertices),
        **labels,
    )


def any_solution(arena, seed=0):
    """Of the right form, not right: pictures show what they are given."""
    rng = np.random.default_rng(seed)
    winner = rng.integers(-1, 2, arena.shape[0]).astype(np.int8)
    some_edge = rng.integers(arena.row_ptr[:-1], arena.row_ptr[1:])
    return solution(winner, np.where(winner == arena.owner, some_edge, -1))


def solution(winner, strategy):
    strategy = None if strategy is None else np.asarray(strategy, np.int32)
    return types.SimpleNamespace(winner=np.asarray(winner, np.int8), strategy=strategy)


def edge_list(arena):
    return list(zip(arena.src.tolist(), arena.dst.tolist(), strict=True))


def chosen_edges(solution):
    return solution.strategy[solution.strategy >= 0]


def points(path):
    numbers = re.findall(r"-?[\d.]+", path.get("d"))
    return np.array(numbers, float).reshape(-1, 2)


def of_class(svg, kind):
    """Paths of that class, in order."""
    paths = ET.fromstring(svg).iter(f"{SVG}path")
    return [p for p in paths if kind in (p.get("class") or "").split()]


def tip(path):
    return path.findtext(f"{SVG}title")


def texts(svg):
    return [t.text for t in ET.fromstring(svg).iter(f"{SVG}text")]


def bars(svg, title):
    """What a chart of the picture says, from its title to the next title."""
    found = []
    for text in ET.fromstring(svg).iter(f"{SVG}text"):
        if text.get("font-weight") == "bold":
            found.append((text.text, []))
        elif found:
            found[-1][1].append(text.text)
    (entries,) = [rows for name, rows in found if name.startswith(title)]
    return {
        label: int(number.replace(",", ""))
        for label, number in zip(entries[::2], entries[1::2], strict=True)
    }


def run_dot(text, form):
    return subprocess.run(
        ["dot", f"-T{form}"], input=text.encode(), capture_output=True, check=True
    ).stdout.decode()


ARENAS = {
    "one vertex": Arena.from_edges([0], [0], owner=[1], priority=[3]),
    "loops and parallels": Arena.from_edges(
        [0, 0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 0, 0, 1], owner=[0, 1], priority=[10, 1]
    ),
    "no priority": Arena.from_edges([0, 1, 2], [1, 2, 0], owner=[0, 1, 0]),
    "huge priority": Arena.from_edges(
        [0, 1], [1, 0], owner=[0, 1], priority=[2**31 - 3, 10**9]
    ),
    "two parts": Arena.from_edges(
        [0, 1, 2, 3], [1, 0, 3, 2], owner=[0, 1, 0, 1], priority=[0, 1, 2, 3]
    ),
    "jurdzinski": generate.jurdzinski(2, 3),
    "clique": generate.clique(8),
    "random": random_arena(1, 40, 90),
    "long chain": Arena.from_edges(
        range(50), [*range(1, 50), 49], owner=[0] * 50, priority=range(50)
    ),
}

every_arena = pytest.mark.parametrize("arena", ARENAS.values(), ids=ARENAS)


class TestDot:
    @needs_dot
    @every_arena
    def test_graphviz_sees_all_vertices_and_edges(self, arena):
        lines = run_dot(plot.to_dot(arena, any_solution(arena)), "plain").splitlines()
        words = [line.split() for line in lines]
        nodes = {word[1]: word[8] for word in words if word[0] == "node"}
        expected = ["box" if owner else "diamond" for owner in arena.owner]
        assert nodes == {f"v{v}": shape for v, shape in enumerate(expected)}
        edges = [(word[1], word[2]) for word in words if word[0] == "edge"]
        assert collections.Counter(edges) == collections.Counter(
            (f"v{u}", f"v{v}") for u, v in edge_list(arena)
        )

    @needs_dot
    def test_graphviz_shows_names_as_they_are(self):
        size = len(ODD_NAMES)
        arena = Arena.from_edges(
            range(size), range(size), owner=[0] * size, priority=range(100, 100 + size)
        )
        svg = ET.fromstring(run_dot(plot.to_dot(arena, names=ODD_NAMES), "svg"))
        shown = {}
        for group in svg.iter(f"{SVG}g"):
            if group.get("class") == "node":
                lines = [text.text for text in group.iter(f"{SVG}text")]
                shown[group.findtext(f"{SVG}title")] = "\n".join(lines)
        shown = {node: text.replace("\xa0", " ") for node, text in shown.items()}
        assert shown == {
            f"v{v}": f"{name}\n{100 + v}" if name else str(100 + v)
            for v, name in enumerate(ODD_NAMES)
        }

    def test_strategy_edges_are_bold_and_regions_coloured(self):
        arena = ARENAS["random"]
        given = any_solution(arena)
        lines = plot.to_dot(arena, given).splitlines()
        edges = [line for line in lines if "->" in line]
        bold = [e for e, line in enumerate(edges) if "penwidth" in line]
        assert bold == sorted(chosen_edges(given))
        fills = [re.search('fillcolor="(.*?)"', x)[1] for x in lines if "shape=" in x]
        pairs = set(zip(given.winner.tolist(), fills, strict=True))
        assert len(pairs) == 3  # each of 0, 1 and -1 has a colour of its own
        assert len({fill for _, fill in pairs}) == 3

    def test_edge_labels_and_accepting_vertices(self):
        arena = Arena.from_edges(
            [0, 0, 1],
            [0, 1, 0],
            owner=[0, 1],
            accepting=[False, True],
            edge_priority=[5, 6, 7],
            weight=[[1, -2], [3, 4], [-5, 6]],
        )
        text = plot.to_dot(arena)
        assert re.findall('-> .*label="(.*?)"', text) == [
            "5 / (1, -2)",
            "6 / (3, 4)",
            "7 / (-5, 6)",
        ]
        assert 'v0 [shape=diamond, label="0"];' in text
        assert 'v1 [shape=box, label="1", peripheries=2];' in text


class TestDrawing:
    @every_arena
    def test_a_shape_for_each_vertex(self, arena):
        given = any_solution(arena)
        shapes = of_class(plot.draw(arena, given).to_svg(), "vertex")
        assert len(shapes) == arena.shape[0]
        colors = set()
        for v, shape in enumerate(shapes):
            kind = "box" if arena.owner[v] else "diamond"
            assert kind in shape.get("class").split()
            x, y = points(shape).T
            # A box has two corners at each side, a diamond one at each end.
            assert len(set(x)) == len(set(y)) == (2 if arena.owner[v] else 3)
            assert tip(shape).startswith(f"vertex {v}, player {int(arena.owner[v])}")
            colors.add((int(given.winner[v]), shape.get("fill")))
        assert len(colors) == len({color for _, color in colors})
        assert len(colors) == len(set(given.winner.tolist()))

    @every_arena
    def test_a_curve_for_each_edge_and_a_bold_one_for_each_move(self, arena):
        given = any_solution(arena)
        svg = plot.draw(arena, given).to_svg()
        edges, moves = of_class(svg, "edge"), of_class(svg, "strategy")
        expected = [f"{u} → {v}" for u, v in edge_list(arena)]
        assert sorted(map(tip, edges)) == sorted(expected)
        assert len({edge.get("d") for edge in edges}) == len(edges)
        assert sorted(map(tip, moves)) == sorted(
            expected[e] for e in chosen_edges(given)
        )
        widths = {
            kind: {
                float(e.get("stroke-width")) for e in edges if e.get("class") == kind
            }
            for kind in ("edge", "edge strategy")
        }
        assert max(widths["edge"], default=0) < min(widths["edge strategy"], default=9)

    @every_arena
    def test_arrows_run_from_border_to_border(self, arena):
        svg = plot.draw(arena).to_svg()
        shapes = [points(shape) for shape in of_class(svg, "vertex")]
        paths = list(ET.fromstring(svg).iter(f"{SVG}path"))

        def level(vertex, point):
            """One at the border of the shape, more outside."""
            low, high = shapes[vertex].min(0), shapes[vertex].max(0)
            away = np.abs(point - (low + high) / 2) / ((high - low) / 2)
            return away.max() if arena.owner[vertex] else away.sum()

        seen = 0
        for path, head in zip(paths, paths[1:], strict=False):
            if path.get("class") == "edge":
                source, target = map(int, tip(path).split(" → "))
                assert 1 <= level(source, points(path)[0]) < 1.15
                assert 1 <= level(target, points(head)[0]) < 1.15
                seen += 1
        assert seen == arena.shape[1]

    def test_edges_there_and_back_bend_alike(self):
        svg = plot.draw(ARENAS["two parts"]).to_svg()
        shapes = [points(shape).mean(0) for shape in of_class(svg, "vertex")]
        there, back, *_ = (points(edge).mean(0) for edge in of_class(svg, "edge"))
        x, y = shapes[1] - shapes[0]
        sides = (np.array([there, back]) - shapes[0]) @ (-y, x)
        assert sides[0] * sides[1] < 0
        assert abs(sides).min() > 0.9 * abs(sides).max()

    @every_arena
    def test_shapes_keep_apart_and_hold_their_text(self, arena):
        svg = plot.draw(arena).to_svg()
        shapes = [points(shape) for shape in of_class(svg, "vertex")]
        low = np.array([shape.min(0) for shape in shapes])
        high = np.array([shape.max(0) for shape in shapes])
        apart = (low[:, None] > high).any(-1)
        assert (apart | apart.T | np.eye(len(shapes), dtype=bool)).all()
        insides = texts(svg)[: len(shapes)]
        values = arena.priority
        assert insides == [str(x) for x in (range(3) if values is None else values)]
        for inside, (width, _) in zip(insides, high - low, strict=True):
            assert len(inside) * 11 * 0.56 < width  # digits of 0.56 em

    def test_names_and_edge_labels_do_not_cover_each_other(self):
        rng = np.random.default_rng(3)
        arena = random_arena(3, 25, 50, weight=rng.integers(-99, 99, 50))
        names = [f"state {v}" for v in range(25)]
        svg = plot.draw(arena, names=names).to_svg()
        words = [t for t in ET.fromstring(svg).iter(f"{SVG}text") if t.get("stroke")]
        assert sorted(t.text for t in words) == sorted(
            [*names, *map(str, arena.weight.tolist())]
        )
        at = np.array([(float(t.get("x")), float(t.get("y"))) for t in words])
        half = np.array([(len(t.text) * 9 * 0.25, 4) for t in words])
        near = (np.abs(at[:, None] - at) < half[:, None] + half).all(-1)
        assert not (near & ~np.eye(len(words), dtype=bool)).any()

    def test_odd_names_are_shown(self):
        size = len(ODD_NAMES)
        arena = Arena.from_edges(range(size), range(size), owner=[1] * size)
        shown = texts(plot.draw(arena, names=ODD_NAMES).to_svg())
        for name in ODD_NAMES:
            if name:
                assert name.replace("\n", " ") in shown

    def test_what_xml_cannot_hold_is_replaced(self):
        arena = ARENAS["no priority"]
        names = ["a\x00b\x1b", "c\udcffd", "e\r\tf"]
        shown = texts(plot.draw(arena, names=names).to_svg())
        assert {"a\ufffdb\ufffd", "c\ufffdd", "e  f"} <= set(shown)
        plot.to_dot(arena, names=names).encode()

    def test_long_names_are_cut_and_kept_in_the_tip(self):
        arena = ARENAS["no priority"]
        long = "a very long name of a vertex"
        svg = plot.draw(arena, names=[long, None, None]).to_svg()
        assert long not in texts(svg)
        assert long in tip(of_class(svg, "vertex")[0])

    def test_accepting_vertices_have_a_double_border(self):
        arena = Arena.from_edges(
            [0, 1, 2], [1, 2, 0], owner=[0, 1, 0], accepting=[True, True, False]
        )
        svg = plot.draw(arena).to_svg()
        corners = [points(p) for p in ET.fromstring(svg).iter(f"{SVG}path")]
        for v, shape in enumerate(of_class(svg, "vertex")):
            centre = points(shape).mean(0)
            around = [c for c in corners if np.allclose(c.mean(0), centre, atol=0.2)]
            assert len(around) == 1 + bool(arena.accepting[v])

    @pytest.mark.parametrize("part", ["random", "clique"])
    def test_the_same_game_gives_the_same_picture(self, part):
        arena = ARENAS[part]
        given = any_solution(arena)
        svg = plot.draw(arena, given).to_svg()
        assert plot.draw(arena, given).to_svg() == svg
        padded = arena.pad()
        more = padded.shape[0] - arena.shape[0]
        wide = solution(
            np.append(given.winner, [1] * more), np.append(given.strategy, [-1] * more)
        )
        assert plot.draw(padded, wide).to_svg() == svg
        on_device = jax.tree.map(jnp.asarray, (padded, wide.winner, wide.strategy))
        assert plot.draw(on_device[0], solution(*on_device[1:])).to_svg() == svg
        assert plot.to_dot(padded, wide) == plot.to_dot(arena, given)

    def test_needs_no_scipy(self, monkeypatch):
        """Importing it takes longer than all of a drawing."""
        for name in [name for name in sys.modules if name.split(".")[0] == "scipy"]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, "scipy", None)
        arena = random_arena(5, 12, 14)
        assert len(of_class(plot.draw(arena).to_svg(), "vertex")) == 12

    @pytest.mark.parametrize(("vertices", "edges"), [(0, 0), (1, 1), (40, 40), (9, 60)])
    def test_steps_between_vertices_are_those_of_scipy(self, vertices, edges):
        arena = random_arena(vertices, vertices, edges)
        graph = csr_array((np.ones(edges), arena.dst, arena.row_ptr), (vertices,) * 2)
        steps = csgraph.shortest_path(graph, directed=False, unweighted=True)
        np.testing.assert_array_equal(_layout._steps_between(arena), steps)

    def test_no_vertex(self):
        arena = Arena.from_edges([], [], owner=[])
        assert of_class(plot.draw(arena).to_svg(), "vertex") == []
        assert "v0" not in plot.to_dot(arena)


class TestCharts:
    @pytest.mark.parametrize(
        "priority",
        [
            np.array([4, 4, 7]),
            np.arange(300),
            np.array([0, 5, 2**31 - 3]),
            np.random.default_rng(0).integers(10**6, 2**31 - 3, 5000),
            np.random.default_rng(1).geometric(0.2, 5000),
        ],
        ids=["few", "many", "sparse", "wide", "skew"],
    )
    def test_bars_count_the_vertices(self, priority):
        size = max(len(priority), plot.MAX_DRAWN_VERTICES + 1)
        priority = np.resize(priority, size)
        arena = Arena.from_edges(
            range(size), range(size), owner=[0] * size, priority=priority
        )
        found = bars(plot.draw(arena).to_svg(), "Vertices by priority")
        assert sum(found.values()) == size
        assert len(found) <= 24
        for label, count in found.items():
            first, *last = (int(x.replace(",", "")) for x in label.split("–"))
            last = last[0] if last else first
            assert count == np.count_nonzero((first <= priority) & (priority <= last))

    def test_bars_are_stacked_by_winner(self):
        arena = random_arena(5, 1000, 3000)
        arena = Arena.from_edges(
            arena.src, arena.dst, owner=arena.owner, priority=arena.priority % 2
        )
        given = any_solution(arena)
        svg = plot.draw(arena, given).to_svg()
        sizes = {
            "won by player 0": np.count_nonzero(given.winner == 0),
            "won by player 1": np.count_nonzero(given.winner == 1),
            "undecided": np.count_nonzero(given.winner == -1),
        }
        assert bars(svg, "Winning regions") == sizes
        paths = [points(p) for p in ET.fromstring(svg).iter(f"{SVG}path")]
        widths = [np.ptp(path[:, 0]) for path in paths[:6]]
        counts = [
            np.count_nonzero((arena.priority == p) & (given.winner == w))
            for p in (0, 1)
            for w in (0, 1, -1)
        ]
        scale = sum(widths) / sum(counts)
        np.testing.assert_allclose(widths, np.multiply(counts, scale), atol=0.2)

    def test_degrees_and_components(self):
        networkx = pytest.importorskip("networkx")
        arena = random_arena(6, 500, 700)
        svg = plot.draw(arena).to_svg()
        graph = networkx.MultiDiGraph(edge_list(arena))
        for title, numbers in {
            "Vertices by out-degree": [d for _, d in graph.out_degree()],
            "Vertices by in-degree": [d for _, d in graph.in_degree()],
            "Strongly": [len(c) for c in networkx.strongly_connected_components(graph)],
        }.items():
            expected = collections.Counter(numbers)
            assert len(expected) <= 16
            assert bars(svg, title) == {str(x): n for x, n in expected.items()}

    def test_degrees_far_apart_are_grouped_by_doubling(self):
        degrees = [1] * 20 + list(range(1, 40)) + [100_000]
        src = np.repeat(np.arange(len(degrees)), degrees)
        arena = Arena.from_edges(src, np.zeros_like(src), owner=[0] * len(degrees))
        assert bars(plot.draw(arena).to_svg(), "Vertices by out-degree") == {
            "1": 21,
            "2": 1,
            "3–4": 2,
            "5–8": 4,
            "9–16": 8,
            "17–32": 16,
            "33–64": 7,
            "65,537–100,000": 1,
        }

    def test_many_edges_are_not_drawn(self):
        assert of_class(plot.draw(generate.clique(30)).to_svg(), "edge") == []


class TestNotebook:
    def test_small_game(self):
        arena = ARENAS["random"]
        assert arena._repr_html_() == plot.draw(arena).to_svg()
        assert plot.draw(arena)._repr_svg_() == plot.draw(arena).to_svg()

    @pytest.mark.parametrize("priority", [None, [1, 2] * 500])
    def test_large_game(self, priority):
        size = 1000
        arena = Arena.from_edges(
            range(size), range(size), owner=[0, 1, 1, 1] * 250, priority=priority
        )
        root = ET.fromstring(arena._repr_html_())
        facts = {row[0].text: row[1].text for row in root.iter("tr")}
        assert facts["Vertices"] == facts["Edges"] == "1,000"
        assert (facts["Owned by player 0"], facts["Owned by player 1"]) == (
            "250",
            "750",
        )
        chart = ET.tostring(root.find(f"{SVG}svg"))
        if priority is None:
            assert bars(chart, "Vertices by out-degree") == {"1": 1000}
        else:
            assert facts["Priority"] == "1 to 2"
            assert bars(chart, "Vertices by priority") == {"1": 500, "2": 500}

    def test_solved_large_game(self):
        arena = random_arena(7, 1000, 2000)
        given = any_solution(arena)
        root = ET.fromstring(plot.to_html(arena, given))
        facts = {row[0].text: row[1].text for row in root.iter("tr")}
        assert facts["Won by player 1"] == str(np.count_nonzero(given.winner == 1))
        assert facts["Undecided"] == str(np.count_nonzero(given.winner == -1))

    def test_stacks_and_tracers_get_a_line(self):
        arena = ARENAS["two parts"]
        stack = jax.tree.map(lambda *x: np.stack(x), arena, arena)
        assert re.fullmatch(r"<pre>Arena\(.*\)</pre>", stack._repr_html_())
        shown = []
        jax.jit(lambda a: shown.append(a._repr_html_()))(arena)
        assert re.fullmatch(r"<pre>Arena\(.*\)</pre>", shown[0])


class TestFiles:
    def test_svg(self, tmp_path):
        path = tmp_path / "game.svg"
        picture = plot.draw(ARENAS["random"], None, path)
        assert path.read_text(encoding="utf-8") == picture.to_svg()

    @pytest.mark.parametrize("arena", [ARENAS["random"], random_arena(8, 500, 900)])
    def test_png(self, tmp_path, arena):
        image = pytest.importorskip("matplotlib.image")
        path = tmp_path / "game.PNG"
        given = any_solution(arena)
        svg = ET.fromstring(plot.draw(arena, given, path).to_svg())
        pixels = image.imread(path)
        height, width = pixels.shape[:2]
        assert (width, height) == (
            2 * int(svg.get("width")),
            2 * int(svg.get("height")),
        )
        ink = (pixels[..., :3] < 0.95).any(-1)
        assert 0.005 < ink.mean() < 0.6
        red, blue = pixels[..., 0], pixels[..., 2]
        assert np.count_nonzero(blue - red > 0.3) > 100  # player 0's
        assert np.count_nonzero(red - blue > 0.3) > 100  # player 1's
        # Nothing is cut off, and the page is no larger than its picture.
        for side in (ink[:16], ink[-16:], ink[:, :16], ink[:, -16:]):
            assert not side.any()

    def test_names_are_no_formulas_in_png(self, tmp_path):
        pytest.importorskip("matplotlib")
        arena = ARENAS["one vertex"]
        plot.draw(arena, None, tmp_path / "game.png", names=[r"$\broken{$"])

    def test_pdf(self, tmp_path):
        pytest.importorskip("matplotlib")
        path = tmp_path / "game.pdf"
        plot.draw(ARENAS["clique"], None, path)
        assert path.read_bytes().startswith(b"%PDF")

    def test_without_matplotlib(self, tmp_path, monkeypatch):
        for name in [n for n in sys.modules if n.split(".")[0] == "matplotlib"]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        arena = ARENAS["random"]
        path = tmp_path / "game.png"
        path.write_bytes(b"before")
        with pytest.raises(ImportError, match='"pip install matplotlib"'):
            plot.draw(arena, None, path)
        assert path.read_bytes() == b"before"
        plot.draw(arena, None, tmp_path / "game.svg")
        arena._repr_html_()
        random_arena(8, 500, 900)._repr_html_()

    def test_a_failed_write_leaves_the_old_file(self, tmp_path, monkeypatch):
        path = tmp_path / "game.svg"
        path.write_text("before")

        def fail(*_):
            raise OSError("disk full")

        monkeypatch.setattr("os.replace", fail)
        with pytest.raises(OSError, match="disk full"):
            plot.draw(ARENAS["clique"], None, path)
        assert path.read_text() == "before"
        assert list(tmp_path.iterdir()) == [path]


class TestErrors:
    @pytest.mark.parametrize("name", ["game.jpg", "game", "game.svg.gz", ".svg"])
    def test_suffix(self, tmp_path, name):
        with pytest.raises(ValueError, match=r"must end with \.svg, \.png or \.pdf"):
            plot.draw(ARENAS["clique"], None, tmp_path / name)
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize(
        ("winner", "strategy", "message"),
        [
            ([0], [-1] * 3, r"winner must have one entry for each vertex \(3\), .*1"),
            ([0] * 3, [-1] * 5, r"strategy must have one .* vertex \(3\), .*5"),
            ([[0, 0, 0]], [-1] * 3, r"winner must have .* shape \(1, 3\)"),
            ([0, 2, 0], [-1] * 3, r"winner\[1\] is 2, expected 0, 1 or -1"),
            (
                [0, 0, 0],
                [-1, -1, 0],
                r"strategy\[2\] is 0, which is not an edge of vertex 2",
            ),
            (
                [0, 0, 0],
                [-1, 9, -1],
                r"strategy\[1\] is 9, which is not an edge of vertex 1",
            ),
            ([0, 0, 0], [-2, 1, -1], r"strategy\[0\] is -2, which is not an edge"),
        ],
    )
    def test_solution_of_another_game(self, winner, strategy, message):
        arena = ARENAS["no priority"]
        for show in (plot.to_dot, plot.draw, plot.to_html):
            with pytest.raises(ValueError, match=message):
                show(arena, solution(winner, strategy))

    @pytest.mark.parametrize("show", [plot.to_dot, plot.draw])
    def test_names_of_another_game(self, show):
        with pytest.raises(ValueError, match=r"names .* each vertex \(3\), got 2"):
            show(ARENAS["no priority"], names=["a", "b"])

    @pytest.mark.parametrize("show", [plot.to_dot, plot.draw])
    def test_stack(self, show):
        arena = ARENAS["two parts"]
        stack = jax.tree.map(lambda *x: np.stack(x), arena, arena)
        with pytest.raises(ValueError, match=r"one arena, got a stack of shape \(2,\)"):
            show(stack)
