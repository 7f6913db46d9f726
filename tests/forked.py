"""Processes that begin where one of them has begun for all: with its imports done."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

LOOP = """
import json, os, sys
scope = {"__name__": "__main__"}
exec(sys.argv[1], scope)
for line in sys.stdin:
    child = os.fork()
    if not child:
        break
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
else:
    os._exit(0)
program, arguments, folder, *files = json.loads(line)
for number, name in enumerate(files):
    os.dup2(os.open(name, os.O_WRONLY if number else os.O_RDONLY), number)
os.chdir(folder)
sys.argv = ["-c", *arguments]
exec(program, scope)
"""


class Forked:
    """Runs programs in a process each, that have begun alike: `with Forked(begin)`.

    Python and what they import are started once for all.
    """

    def __init__(self, begin: str):
        self._begin = begin

    def __enter__(self) -> "Forked":
        self._process = subprocess.Popen(
            [sys.executable, "-c", LOOP, self._begin],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def run(
        self, program: str, *arguments: str, folder: Path | str = "."
    ) -> subprocess.CompletedProcess:
        """What a program says, and its exit code."""
        with tempfile.TemporaryDirectory() as said:
            out, err = Path(said, "out"), Path(said, "err")
            for file in (out, err):
                file.touch()
            order = [program, arguments, str(folder), "/dev/null", str(out), str(err)]
            assert self._process.stdin
            assert self._process.stdout
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
            code = int(self._process.stdout.readline())
            return subprocess.CompletedProcess(
                arguments, code, out.read_text(), err.read_text()
            )
