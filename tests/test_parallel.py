"""One arena on several devices, and on the devices of several processes."""

import socket
import subprocess
import sys
from pathlib import Path

import jax
import pytest
from fake_devices import environment

from jaxgames import Arena, parallel, parity

PROGRAM = Path(__file__).with_name("several_devices.py")


def start(task: str, *arguments: int, devices: int = 4) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, PROGRAM, task, *map(str, arguments)],
        env=environment(devices),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def output(process: subprocess.Popen) -> str:
    try:
        text, _ = process.communicate(timeout=300)
    finally:
        process.kill()
    assert process.returncode == 0, text
    return text


@pytest.mark.parametrize(
    "tasks",
    [
        "solvers,constants,sent,sums",
        "parts,energies,many,resume",
        "components,end_components,cycles",
    ],
)
def test_on_four_devices(tasks):
    """Several tasks share a process, which starts for seconds."""
    assert output(start(tasks)).split() == tasks.split(",")


def last_lines_of_two(task: str) -> list[str]:
    """What two processes say last that know each other."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    both = [start(task, 2, number, port, devices=2) for number in range(2)]
    return [output(process).splitlines()[-1] for process in both]


def test_two_processes_solve_a_game_together():
    answers = last_lines_of_two("one_of")
    assert answers[0] == answers[1]
    assert answers[0].startswith("Solution(player 0 wins ")


def test_two_processes_solve_games_of_their_own():
    said = last_lines_of_two("each_its_own")
    assert said == ["process 0 solved 3", "process 1 solved 5"]


def test_meshes_and_shares_that_cannot_be():
    with pytest.raises(ValueError, match=r"devices must be between 1 and \d+.*got 99"):
        parallel.mesh(99)
    with (
        pytest.raises(ValueError, match="multiple of the 1 devices, got 0"),
        parallel.over(1, shares=0),
    ):
        pass
    square = jax.make_mesh((1, 1), ("a", "b"))
    with pytest.raises(ValueError, match="a mesh of one axis"), parallel.over(square):
        pass


def test_a_mesh_of_one_device_in_shares():
    """Shares are slices, one after the other: also without a second device."""
    arena = Arena.from_edges(
        [0, 0, 1, 2, 3, 3, 3], [1, 2, 0, 2, 0, 1, 2], owner=[0, 1, 1, 0],
        priority=[0, 1, 2, 1],
    )  # fmt: skip
    alone = parity.solve(arena, "fpi")
    with parallel.over(1, shares=3):
        spread = parity.solve(arena, "fpi")
    assert spread.winner.tolist() == alone.winner.tolist()
    assert spread.strategy.tolist() == alone.strategy.tolist()
    assert spread.stats["layout"] == "slices on 1 device"
