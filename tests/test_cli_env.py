"""What commands tell of the program itself: the machine, completion, the manual."""

import json
import re
import shlex
import shutil
import subprocess

import jax
import numpy
import pytest

import jaxgames
from jaxgames import cli, host, io, parity
from jaxgames.cli import Exit, _grammar, main


@pytest.fixture(autouse=True)
def _where(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def run(capsys):
    """Runs a command here; returns exit code, output and errors."""

    def run(*arguments):
        code = main([str(argument) for argument in arguments])
        return code, *capsys.readouterr()

    return run


# ---- the machine -----------------------------------------------------------------


def test_env_tells_versions_and_devices(run):
    code, out, err = run("env", "--json")
    facts = json.loads(out)
    assert (code, err) == (Exit.DONE, "")
    assert (facts["schema"], facts["command"], facts["file"]) == (1, "env", None)
    assert facts["jaxgames"] == facts["version"] == jaxgames.__version__
    assert facts["jax"] == jax.__version__
    assert facts["numpy"] == numpy.__version__
    assert facts["cores"] == host.num_cores()
    assert len(facts["devices"]) == jax.device_count()
    assert jax.default_backend() in facts["devices"][0]


@pytest.mark.parametrize("command", ["env", "solvers"])
def test_what_reads_no_file_prints_the_same_object(run, command):
    facts = json.loads(run(command, "--json")[1])
    assert list(facts)[:7] == [
        *("schema", "version", "command", "file", "status", "seconds", "verified")
    ]
    assert [facts["command"], facts["file"], facts["status"]] == [
        *(command, None, "solved")
    ]


def test_solvers_for_programs(run):
    facts = json.loads(run("solvers", "--json")[1])
    known = {"auto", *parity.SOLVERS, *parity.SOLVERS.places}
    assert facts["solvers"].keys() == known
    assert all(facts["solvers"].values())
    assert facts["aliases"]["zlk"] == "zielonka"
    assert facts["reductions"] == list(parity.preprocess.REDUCTIONS)


def test_env_tells_the_folder_of_programs(run, tmp_path, monkeypatch):
    def told():
        facts = json.loads(run("env", "--json")[1])
        return facts["cache"], facts["cache_used"]

    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "/somewhere")
    assert told() == ("/somewhere", True)
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "")
    assert told() == (None, False)
    monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert told() == (str(tmp_path / "jaxgames"), True)
    (tmp_path / "jaxgames").rmdir()
    (tmp_path / "jaxgames").write_text("")
    assert told() == (None, False)


def test_env_in_words(run, monkeypatch):
    jax.devices()  # XLA reads its flags once, and ends the process for one like this
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_enable=1")
    code, out, err = run("env")
    assert (code, err) == (Exit.DONE, "")
    told = dict(re.split(r" {2,}", line, maxsplit=1) for line in out.splitlines())
    assert told["jaxgames"] == jaxgames.__version__
    assert "XLA_FLAGS=--xla_cpu_enable=1" in told["environment"]
    assert told["memory"].endswith(" GiB")


def test_env_without_a_device(run, monkeypatch):
    def fail():
        raise RuntimeError("no device\nat all")

    monkeypatch.setattr(jax, "devices", fail)
    code, out, _ = run("env")
    assert code == Exit.DONE
    assert "devices         none" in out
    assert "devices error   no device at all" in out


# ---- completion ------------------------------------------------------------------


@pytest.mark.parametrize("shell", ["bash", "fish", "zsh"])
def test_every_option_of_every_command_is_completed(run, shell):
    code, out, err = run("completion", shell)
    assert (code, err) == (Exit.DONE, "")
    program = _grammar.commands()
    assert [command.name for command in program.parts] == list(cli.COMMANDS)
    out = out.replace("\\n", "\n")  # between words in bash
    for command in program.parts:
        assert re.search(rf"\b{command.name}\b", out)
        for name in (name for option in command.options for name in option.names):
            if shell == "fish":
                name = f"-l {name[2:]}" if name[:2] == "--" else f"-s {name[1:]}"
            assert re.search(rf"(?<![\w-]){name}\b", out), name


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_words_in_bash(run):
    script = run("completion", "bash")[1]
    cases = {
        "so": ["solve", "solvers"],
        "solve -s z": ["zielonka"],
        "solve --solver ho": ["host", "host-tangles"],
        "solve --solver = ho": ["host", "host-tangles"],
        "solve --device =": ["cpu", "gpu", "tpu"],
        "scc -s m": ["max_id"],
        "solve --ver": ["--verify"],
        "solve game.pg --check": ["--checkpoint"],
        "solve --condition min": ["min\\ even", "min\\ odd"],
        "solve --device ''": ["cpu", "gpu", "tpu"],
        "solve --format kr": ["kripke"],
        "solve -o ''": [],
        "generate elev": ["elevator"],
        "generate elevator --no": ["--no-fair"],
        "completion z": ["zsh"],
        "--vers": ["--version"],
    }
    calls = "".join(
        f"COMP_WORDS=(jaxgames {words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))\n"
        '_jaxgames; printf "%s\\t" "${COMPREPLY[@]}"; echo\n'
        for words in cases
    )
    found = subprocess.run(
        ["bash", "-u"], input=script + calls, capture_output=True, text=True, check=True
    )
    assert found.stderr == ""
    lines = [[w for w in x.split("\t") if w] for x in found.stdout.splitlines()]
    assert dict(zip(cases, lines, strict=True)) == cases


@pytest.mark.parametrize("shell", ["fish", "zsh"])
def test_scripts_are_right_for_other_shells(run, shell):
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell}")
    script = run("completion", shell)[1]
    found = subprocess.run(
        [shell, "-n"], input=script, capture_output=True, text=True, check=False
    )
    assert (found.returncode, found.stderr) == (0, "")


def test_values_in_zsh_may_stand_behind_a_sign(run):
    script = run("completion", "zsh")[1]
    for command in _grammar.commands().parts:
        for option in command.options:
            for name in (x for x in option.names if x[:2] == "--"):
                ends = r"=['}]" if option.values else r"[='}]"
                assert re.search(rf"(?<![\w-]){name}{ends}", script), name


def test_no_option_has_an_unknown_value(run):
    """What is completed is taken: by the parsers, or by what they leave it to."""
    program = _grammar.commands()
    solvers = 0
    for command in program.parts:
        for option in command.options:
            assert len(set(option.values)) == len(option.values)
            if "--solver" not in option.names:
                continue
            assert option.values[0] == "auto"
            for name in option.values:
                _, _, err = run(*_with_solver(command.name, name))
                assert "is called" not in err
                assert "missing" in err
                solvers += 1
    assert solvers > 20
    for suffix in io.FORMATS:
        assert run("info", "missing", "--format", suffix[1:])[2].endswith(
            "missing: No such file or directory\n"
        )


def _with_solver(command: str, name: str) -> list[str]:
    more = {
        "check": ["--graph", "missing"],
        "probability": ["missing", "--to", "0"],
        "mdp": ["missing", "--prop", "true"],
        "reach": ["missing", "--to", "0"],
        "discounted": ["missing", "--discount", "1/2"],
    }
    return [command, *more.get(command, ["missing"]), "-s", name]


def test_an_unknown_shell(run):
    code, out, err = run("completion", "bsh")
    assert (code, out) == (Exit.BAD_INPUT, "")
    assert "(did you mean 'bash'?)" in err


# ---- the manual ------------------------------------------------------------------


def test_the_manual_has_all_commands_and_codes(run):
    code, out, err = run("manual")
    assert (code, err) == (Exit.DONE, "")
    assert out.startswith('.TH JAXGAMES 1 "" "jaxgames ')
    assert out.isascii()  # roff has other signs by their numbers
    plain = out.replace("\\-", "-").replace("\\&", "").replace("\\e", "\\")
    plain = plain.replace("\\[u00FC]", "ü")
    for command in _grammar.commands().parts:
        assert f'.SS "jaxgames {command.name}"\n{command.about}\n' in plain
        for option in command.options:
            assert f"\n.B {', '.join(option.names)}" in plain
    for exit_code in Exit:
        assert f"\n.B {exit_code:d}\n{exit_code.meaning}\n" in plain


@pytest.mark.skipif(shutil.which("groff") is None, reason="there is no groff")
def test_the_manual_is_right_roff(run):
    page = run("manual")[1]
    found = subprocess.run(
        shlex.split("groff -man -Tutf8 -ww -z"),
        input=page.encode(),
        capture_output=True,
    )
    assert (found.returncode, found.stderr) == (0, b"")
