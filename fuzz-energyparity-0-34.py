"""ValueError: cannot pad 2 vertices and 7 edges to 4 and 8: each vertex added takes an edge, and edges are added only to added vertices"""

arena = Arena.from_edges([0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 1, 1, 1], owner=[0, 0], priority=[0, 0], weight=[0, 0, 0, 0, 0, 0, 0])
energyparity.solve(arena)
