"""Rmax=? [ F "goal" ]: 0.0 to 2.2559731882942913e-283 at state 1 are too far apart"""

model = mdp.MDP.from_arrays(
    [0, 1, 2, 3], [0, 1, 3, 4], [0, 2, 0, 1], [1.0, 0.5, 0.5, 1.0]
)
# rewards [0, 0, 0, 0]
