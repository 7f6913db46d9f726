"""The examples of the documentation: Python blocks run, and print what they say.

The blocks of a page run in order, in one folder and one namespace. A `python` block
prints what the `text` block right after it says; a `console` block shows commands of
`jaxgames` with their output. Times differ from run to run and are not compared.
"""

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest

from jaxgames.cli import main

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
PAGES = {
    path.relative_to(ROOT).as_posix(): path
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
}


def examples(text: str) -> list[tuple[str, str, str | None]]:
    """Kind, source and expected output of each example of a page."""
    blocks, found = list(BLOCK.finditer(text)), []
    for block, following in zip(blocks, [*blocks[1:], None], strict=True):
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
        if kind == "python":
            exec(compile(source, "<example>", "exec"), namespace)
        else:
            with contextlib.redirect_stderr(printed):
                main(shlex.split(source)[1:])
    return printed.getvalue()


def comparable(text: str) -> str:
    """The text without times and without the width of columns."""
    return " ".join(re.sub(r"[\d.,]+ (m?s)\b", r"0 \1", text).split())


@pytest.mark.parametrize("page", [p for p, path in PAGES.items() if examples(path.read_text())])
def test_examples_print_what_the_page_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    namespace = {}
    for kind, source, said in examples(PAGES[page].read_text()):
        printed = run(kind, source, namespace)
        assert comparable(printed) == comparable(said or ""), source


def test_an_example_that_prints_something_else_is_found():
    page = "```python\nprint(1)\n```\n\n```text\n2\n```\n\n```console\n$ jaxgames x\n3\n```\n"
    assert examples(page) == [
        ("python", "print(1)\n", "2\n"),
        ("console", "jaxgames x", "3\n"),
    ]
    assert comparable(run("python", "print(1)", {})) != comparable("2\n")
    assert comparable("took 1.25 s,  5 rounds\n") == comparable("took 0.1 s, 5 rounds")
    assert comparable("5 rounds") != comparable("6 rounds")


def test_every_command_and_family_is_documented():
    """The page of the command line names what there is."""
    from jaxgames import generate, parity

    page = PAGES["docs/command-line.md"].read_text()
    for name in [*generate.FAMILIES, *parity.SOLVERS]:
        assert f"`{name}`" in page, name


def test_links_of_the_readme_lead_somewhere():
    text = (ROOT / "README.md").read_text()
    targets = [t for t in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in t]
    assert targets
    assert [t for t in targets if not (ROOT / t).exists()] == []
