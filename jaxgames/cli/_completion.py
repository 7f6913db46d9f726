"""`jaxgames completion`."""

import argparse
import shlex
from collections.abc import Iterator

from jaxgames.cli import _grammar
from jaxgames.cli._exit import Exit
from jaxgames.cli._grammar import Command, Option

EXAMPLE = "completion bash"


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=_SHELLS, help="for which shell")


def run(args: argparse.Namespace) -> Exit:
    """Prints a script that tells a shell what may stand where."""
    print("\n".join(_SHELLS[args.shell](_grammar.commands())))
    return Exit.DONE


def _paths(program: Command) -> Iterator[tuple[str, Command]]:
    """Each command with the words that name it."""
    for command in program.parts:
        yield command.name, command
        for part in command.parts:
            yield f"{command.name} {part.name}", part


def _words(command: Command) -> list[str]:
    """What may stand behind the words that name a command, but files."""
    found = [part.name for part in command.parts]
    for argument in command.arguments:
        found += argument.values
    return found + _names(command.options)


def _names(options: list[Option]) -> list[str]:
    return [name for option in options for name in option.names]


# ---- bash ------------------------------------------------------------------------


def _bash(program: Command) -> Iterator[str]:
    yield "# Completion of jaxgames in bash, which reads it when it is first needed:"
    folder = "~/.local/share/bash-completion/completions"
    yield f"# jaxgames completion bash > {folder}/jaxgames"
    yield "_jaxgames() {"
    yield '    local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}"'
    # In `--solver=spm` the sign is a word by itself.
    yield '    if [ "$cur" = "=" ]; then cur=""'
    yield '    elif [ "$prev" = "=" ]; then prev="${COMP_WORDS[COMP_CWORD-2]}"; fi'
    yield '    local command="${COMP_WORDS[1]}" part="" words=""'
    yield "    local IFS=$'\\n'"
    yield '    [ "$COMP_CWORD" -gt 2 ] && part="${COMP_WORDS[2]}"'
    yield '    [ "$COMP_CWORD" -eq 1 ] && command=""'
    yield "    COMPREPLY=()"
    yield '    case "$command $prev" in'
    for path, command in _paths(program):
        if " " in path:
            continue
        for option in command.options:
            if option.value is None:
                continue
            patterns = "|".join(shlex.quote(f"{path} {name}") for name in option.names)
            # What has no known values is a file, or a number: bash offers files.
            found = _bash_words(option.values) if option.values else "return"
            yield f"    {patterns}) {found} ;;"
    yield "    esac"
    yield '    case "$command $part" in'
    for path, command in _paths(program):
        if " " in path:
            yield f"    {shlex.quote(path)}) {_bash_words(_words(command))} ;;"
    yield "    esac"
    yield '    [ -n "$words" ] || case "$command" in'
    yield f"    '') {_bash_words(_words(program))} ;;"
    for path, command in _paths(program):
        if " " not in path:
            yield f"    {path}) {_bash_words(_words(command))} ;;"
    yield "    esac"
    yield '    COMPREPLY=($(compgen -W "$words" -- "$cur"))'
    yield "}"
    yield "complete -o default -F _jaxgames jaxgames"


def _bash_words(words: tuple[str, ...] | list[str]) -> str:
    # With blanks inside they are quoted where they are put in.
    lines = "\\n".join(word.replace(" ", "\\\\\\\\ ") for word in words)
    return f"words=$'{lines}'"


# ---- fish ------------------------------------------------------------------------


def _fish(program: Command) -> Iterator[str]:
    yield "# Completion of jaxgames in fish:"
    yield "# jaxgames completion fish > ~/.config/fish/completions/jaxgames.fish"
    for option in program.options:
        yield _fish_option("__fish_use_subcommand", option)
    for path, command in _paths(program):
        first, _, second = path.partition(" ")
        where = "__fish_use_subcommand"
        if second:
            where = f"__fish_seen_subcommand_from {first}"
        yield (
            f"complete -c jaxgames -n {shlex.quote(where)} -a {command.name} "
            f"-d {_fish_text(command.about)}"
        )
        seen = f"__fish_seen_subcommand_from {second or first}"
        if second:
            seen += f"; and __fish_seen_subcommand_from {first}"
        for option in command.arguments + command.options:
            yield _fish_option(seen, option)


def _fish_option(where: str, option: Option) -> str:
    parts = ["complete -c jaxgames", f"-n {shlex.quote(where)}"]
    for name in option.names:
        parts.append(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}")
    if option.values:
        words = " ".join(word.replace(" ", "\\ ") for word in option.values)
        parts.append(f"-x -a {_fish_text(words)}")
    elif option.value is not None:
        parts.append("-r")
    return " ".join([*parts, f"-d {_fish_text(option.about)}"])


def _fish_text(text: str) -> str:
    text = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{text}'"


# ---- zsh -------------------------------------------------------------------------


def _zsh(program: Command) -> Iterator[str]:
    yield "#compdef jaxgames"
    yield "# Completion of jaxgames in zsh: a file _jaxgames in a folder of $fpath"
    for path, command in _paths(program):
        yield from _zsh_function(path, command)
    yield from _zsh_function("", program)
    yield 'if [ "$funcstack[1]" = _jaxgames ]; then'
    yield '    _jaxgames "$@"'
    yield "else"
    yield "    compdef _jaxgames jaxgames"
    yield "fi"


def _zsh_function(path: str, command: Command) -> Iterator[str]:
    name = "_".join(["_jaxgames", *path.split()])
    yield f"{name}() {{"
    lines = [_zsh_option(option) for option in command.options]
    if command.parts:
        lines += ["'1: :->part'", "'*:: :->rest'"]
    else:
        known = [argument for argument in command.arguments if argument.values]
        lines += [f"'*:{x.value}:({' '.join(x.values)})'" for x in known]
        lines += [] if known else ["'*: :_files'"]
    yield "    local line state"
    yield "    _arguments " + " \\\n        ".join(lines)
    if command.parts:
        yield '    case "$state" in'
        yield "    part)"
        yield "        local -a parts=("
        for part in command.parts:
            about = part.about.replace(":", "\\:")
            yield f"            {shlex.quote(f'{part.name}:{about}')}"
        yield "        )"
        yield "        _describe command parts ;;"
        yield "    rest)"
        yield f'        (( $+functions[{name}_$line[1]] )) && "{name}_$line[1]" ;;'
        yield "    esac"
    yield "}"


def _zsh_option(option: Option) -> str:
    about = option.about
    for mark in "\\:[]":
        about = about.replace(mark, "\\" + mark)
    value = ""
    if option.values:
        words = " ".join(word.replace(" ", "\\ ") for word in option.values)
        value = f":{option.value}:({words})"
    elif option.value is not None:
        value = f":{option.value}:_files"
    text = shlex.quote(f"[{about}]{value}")
    # A value may be the next word, and behind a long name also stand after `=`.
    names = [x + "=" * (bool(value) and x[:2] == "--") for x in option.names]
    if len(names) == 1:
        return names[0] + text
    return f"'({' '.join(option.names)})'{{{','.join(names)}}}{text}"


_SHELLS = {"bash": _bash, "fish": _fish, "zsh": _zsh}
