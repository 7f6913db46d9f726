"""The examples of the documentation: Python blocks run, and print what they say.

The blocks of a page run in order, in one folder and one namespace. A `python` block
prints what the `text` block right after it says; a `console` block shows commands of
`jaxgames` with their output. What differs from machine to machine is not compared:
times, rounds, steps, the name of the device.
"""

import contextlib
import io
import re
import shlex
import subprocess
import sys
from pathlib import Path
from subprocess import PIPE, STDOUT

import pytest
from fake_devices import environment

from jaxgames import cli

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
PAGES = ["README.md"] + [
    path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs").rglob("*.md"))
]


def text_of(page: str) -> str:
    """The text of a page."""
    return (ROOT / page).read_text(encoding="utf-8")


def examples(text: str) -> list[tuple[str, str, str | None]]:
    """Kind, source and expected output of each example of a page."""
    blocks, found = list(BLOCK.finditer(text)), []
    for block, following in zip(blocks, [*blocks[1:], None], strict=False):
        kind, source = block.groups()
        if kind == "python":
            adjoins = following and not text[block.end() : following.start()].strip()
            said = following[2] if adjoins and following[1] == "text" else None
            found.append((kind, source, said))
        elif kind == "console":
            for command, said in COMMAND.findall(source):
                if command.startswith("jaxgames "):
                    found.append((kind, command, said))
    return found


def run(kind: str, source: str, namespace: dict) -> str:
    """What an example prints."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        if kind == "console":
            with contextlib.redirect_stderr(printed):
                cli.main(shlex.split(source)[1:])
        else:
            exec(compile(source, "<example>", "exec"), namespace)
    return printed.getvalue()


def comparable(text: str) -> str:
    """The text without what differs, and without the width of columns."""
    text = re.sub(r"[\d.,]+ (m?s|rounds|steps)\b", r"0 \1", text)
    return " ".join(re.sub(r"\bon (cpu|gpu|tpu)\b", "on a device", text).split())


@pytest.mark.parametrize("page", [name for name in PAGES if examples(text_of(name))])
def test_examples_print_what_the_page_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "")  # JAX's settings stay
    namespace = {}
    for kind, source, said in examples(text_of(page)):
        printed = run(kind, source, namespace)
        assert comparable(printed) == comparable(said or ""), source


WITH_DEVICES = [name for name in PAGES if "parallel.over" in text_of(name)]


@pytest.mark.parametrize(
    "page",
    [
        page if page in WITH_DEVICES else pytest.param(page, marks=pytest.mark.sweep)
        for page in PAGES
        if any(kind == "python" for kind, _, _ in examples(text_of(page)))
    ],
)
def test_examples_hold_on_four_devices(page):
    name = f"{Path(__file__).name}::test_examples_print_what_the_page_says[{page}]"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", "0", f"tests/{name}"],
        env=environment(),
        cwd=ROOT, stdout=PIPE, stderr=STDOUT, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


def test_the_page_of_several_devices_is_tried_on_them():
    assert "docs/several-devices.md" in WITH_DEVICES


def test_an_example_that_prints_something_else_is_found():
    page = "```python\nprint(1)\n```\n\n```text\n2\n```\n"
    page += "```console\n$ jaxgames x\n3\n```\n"
    assert examples(page) == [
        ("python", "print(1)\n", "2\n"),
        ("console", "jaxgames x", "3\n"),
    ]
    assert comparable(run("python", "print(1)", {})) != comparable("2\n")
    assert comparable("1.25 s  5 rounds\n") == comparable("0.1 s 6 rounds")
    assert comparable("5 vertices") != comparable("6 vertices")


def test_every_command_and_family_is_documented():
    """The page of the command line names what there is."""
    from jaxgames import generate, parity

    page = text_of("docs/command-line.md")
    for name in [*generate.FAMILIES, *parity.SOLVERS]:
        assert f"`{name}`" in page, name


def test_how_commands_are_written_fits_on_the_page():
    """Nobody has to scroll to the side to see an option."""
    blocks = re.findall(
        r"```text\n(jaxgames .*?)```", text_of("docs/command-line.md"), re.DOTALL
    )
    usages = [line for block in blocks for line in block.splitlines() if "[-" in line]
    assert len(usages) > 40
    assert [line for line in usages if len(line) > 88] == []


@pytest.mark.parametrize("page", PAGES)
def test_rows_of_tables_have_as_many_cells_as_their_heads(page):
    """A bar in code is a cell's end too, unless a backslash stands before it."""
    text = BLOCK.sub("\n", text_of(page))
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        rows = table.splitlines()
        wide = len(re.findall(r"(?<!\\)\|", rows[0]))
        assert [row for row in rows if len(re.findall(r"(?<!\\)\|", row)) != wide] == []


def test_links_of_the_readme_lead_somewhere():
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", text_of("README.md"))
    files = [link for link in links if "://" not in link]
    assert "docs/parity.md" in files
    assert [name for name in files if not (ROOT / name).exists()] == []
