"""Completion in the shell: the scripts for bash, zsh and fish, and the candidates that they ask for.

The candidates come from the parsers at the moment of the question, so there is no list that could become outdated.
Nothing heavy is imported unless a value needs it.
"""

import argparse
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType

from harness.cli.parser import COMMANDS, agent_parser, command_parser

QUERY = "--query"
"""`harness completion --query WORD…` prints the candidates for the last word, one `VALUE<tab>HELP` a line."""
FILES, FOLDERS = ":files", ":folders"
"""Lines that let the shell complete a path itself."""
_PATHS: Mapping[str, str] = MappingProxyType(
    {"FILE": FILES, "SCRIPT": FILES, "PROGRAM": FILES, "FOLDER": FOLDERS, "DIR": FOLDERS}
)
"""What a value is, by the name that the help gives it."""

_BASH = """\
# eval "$(harness completion bash)"
_harness() {
    local line path word quote words=()
    COMPREPLY=()
    for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
        case $word in
            [\\'\\"]*) quote=${word:0:1}; word=${word#?}; words+=("${word%"$quote"}") ;;
            *) quote=; words+=("${word//\\\\/}") ;;
        esac
    done
    while IFS= read -r line; do
        case $line in
            :files|:folders)
                compopt -o filenames
                while IFS= read -r path; do
                    COMPREPLY+=("$path")
                done < <(compgen "$([[ $line = :files ]] && echo -f || echo -d)" -- "${COMP_WORDS[COMP_CWORD]}") ;;
            *)
                path=${line%%$'\\t'*}
                case $quote in
                    \\') path=${path//\\'/\\'\\\\\\'\\'} ;;
                    \\") path=$(sed 's/[\\\\"$`]/\\\\&/g' <<< "$path") ;;
                    *) printf -v path %q "$path" ;;
                esac
                COMPREPLY+=("$path") ;;
        esac
    done < <("$1" completion --query "${words[@]}" 2>/dev/null)
}
complete -F _harness harness"""
_ZSH = """\
#compdef harness
# eval "$(harness completion zsh)", after compinit
_harness() {
    local line current=${(Q)${words[CURRENT]#[\\"\\']}}
    local -a values texts
    while IFS= read -r line; do
        case $line in
            :files) compset -P '--*='; _files ;;
            :folders) compset -P '--*='; _files -/ ;;
            *) values+=("${line%%$'\\t'*}"); texts+=("${line%%$'\\t'*}  ${line#*$'\\t'}") ;;
        esac
    done < <("${words[1]}" completion --query "${(@Q)words[2,CURRENT-1]}" "$current" 2>/dev/null)
    (( $#values )) && compadd -l -d texts -a values
}
compdef _harness harness"""
_FISH = """\
# harness completion fish | source
function __harness_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -q current[1]; or set current ""
    set current (string unescape -- $current; or string replace -r -- '^["\\']' '' $current)
    set -l option (string match -r -- '^--[^=]*=' $current)
    set -l value (string replace -r -- '^--[^=]*=' '' $current)
    for line in ($words[1] completion --query $words[2..-1] $current 2>/dev/null)
        switch $line
            case :files
                string replace -r -- '^' "$option" (__fish_complete_path $value)
            case :folders
                string replace -r -- '^' "$option" (__fish_complete_directories $value)
            case '*'
                echo $line
        end
    end
end
complete -c harness -f -a '(__harness_complete)'"""
SCRIPTS: Mapping[str, str] = MappingProxyType({"bash": _BASH, "zsh": _ZSH, "fish": _FISH})


def completion(arguments: Sequence[str]) -> int:
    """Run `harness completion`; returns the exit code."""
    if arguments[:1] == [QUERY]:
        for value, text in candidates(arguments[1:]):
            print(value if value in (FILES, FOLDERS) else f"{value}\t{' '.join(text.split())}")
        return 0
    print(SCRIPTS[command_parser("completion").parse_args(arguments).shell])
    return 0


def candidates(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """What the last word can become, each with a help text; the other words come before it."""
    typed = [word for index, word in enumerate(words) if word != "=" or not index]  # bash makes it a word of its own
    if words[-1:] == ["="]:
        typed.append("")
    *before, current = typed or [""]
    place = _Place.after(before)
    prefix, sign, value = current.partition("=")
    if current.startswith("--") and sign and (option := place.options.get(prefix)) is not None:
        found = _values(option, value, before)
        yield from ((one if one in (FILES, FOLDERS) else f"{prefix}={one}", text) for one, text in found)
    elif place.pending is not None and not (place.pending.nargs == "?" and current.startswith("-")):
        yield from _values(place.pending, current, before)
    elif current.startswith("-"):
        names = ((name, action.help or "") for name, action in place.options.items() if not _is_hidden(action))
        yield from _fitting(names, current)
    else:
        if not before:
            yield from _fitting(COMMANDS.items(), current)
        if place.positionals:
            yield from _values(place.positionals[0], current, before)


class _Place:
    """Where in a command line the next word stands."""

    def __init__(self, *parsers: argparse.ArgumentParser) -> None:
        actions = [action for parser in parsers for action in parser._actions]
        self.options = {name: action for action in actions for name in action.option_strings if name[:2] == "--"}
        self.positionals = [action for action in actions if not action.option_strings]
        self.pending: argparse.Action | None = None
        """The option whose value comes next."""
        self._by_name = {name: action for action in actions for name in action.option_strings}

    @classmethod
    def after(cls, words: Sequence[str]) -> "_Place":
        """The place behind these words."""
        command = words[0] if words and words[0] in COMMANDS else ""
        parsers = [command_parser(command)] if command else [agent_parser()]
        place = cls(*parsers, *([agent_parser()] if command in ("serve", "acp", "run") else ()))
        for word in words[1:] if command else words:
            place = place._next(word)
        return place

    def _next(self, word: str) -> "_Place":
        if self.pending is not None:
            self.pending = None
        elif word.startswith("-") and len(word) > 1:
            action = self._by_name.get(word)
            takes = action is not None and action.nargs != 0
            self.pending = action if takes else None
        elif self.positionals:
            first = self.positionals.pop(0)
            if isinstance(first, argparse._SubParsersAction) and word in first.choices:
                return _Place(first.choices[word])
        return self


def _is_hidden(action: argparse.Action) -> bool:
    return action.help == argparse.SUPPRESS


def _values(action: argparse.Action, current: str, before: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The values of an option or argument."""
    kind = action.metavar if isinstance(action.metavar, str) else ""
    if action.choices is not None:
        helps = {one.dest: one.help or "" for one in getattr(action, "_choices_actions", ())}
        yield from _fitting(((str(choice), helps.get(str(choice), "")) for choice in action.choices), current)
    elif kind in _PATHS:
        yield from _fitting(_scripts() if kind == "SCRIPT" else (), current)
        yield _PATHS[kind], ""
    elif (find := _KNOWN.get(action.dest)) is not None:
        yield from _fitting(find(before), current)


def _fitting(found: Iterable[tuple[str, str]], current: str) -> Iterator[tuple[str, str]]:
    return ((value, text) for value, text in found if value.startswith(current))


# ── values that the parsers do not know ─────────────────────────────────────────────────────────


def _scripts() -> Iterator[tuple[str, str]]:
    from harness.practice.script import Script

    return ((name, "built in") for name in Script.shipped())


def _models(before: Sequence[str]) -> Iterator[tuple[str, str]]:
    from harness.model.catalogue import Catalogue

    return ((card.id, f"{card.window:,} tokens") for card in Catalogue().cards())


def _efforts(before: Sequence[str]) -> Iterator[tuple[str, str]]:
    from harness.events import Effort

    return ((level, "") for level in Effort)


def _platforms(before: Sequence[str]) -> Iterator[tuple[str, str]]:
    from harness.model.endpoint import Platform

    return ((platform, "") for platform in Platform)


def _sessions(before: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Names and ids of the sessions of the folder."""
    from harness.base.external_text import visible
    from harness.journal import session_folder, sessions
    from harness.settings import load

    folders = [folder for flag, folder in pairwise(before) if flag == "--cwd"]
    settings = load({"workspace": folders[-1] if folders else None}, os.environ).settings
    yield "latest", "the one used last"
    for one in sessions(session_folder(settings.workspace, settings.state_dir)):
        if one.name:
            yield one.name, visible(one.title)
        yield one.id, visible(one.name or one.title)


def _lessons(before: Sequence[str]) -> Iterator[tuple[str, str]]:
    from pathlib import Path

    import chapters

    found = (path.name for folder in chapters.__path__ for path in Path(folder).iterdir())
    return ((name, "") for name in sorted(found) if name[:1] == "s" and name[1:3].isdigit())


_KNOWN: Mapping[str, Callable[[Sequence[str]], Iterator[tuple[str, str]]]] = MappingProxyType(
    {
        "model": _models,
        "fallback_model": _models,
        "effort": _efforts,
        "endpoint": _platforms,
        "lesson": _lessons,
        "resume": _sessions,
        "session": _sessions,
        "id": lambda before: _sessions(before) if before[:1] == ["export"] else iter(()),
    }
)
"""Candidates for an option or argument by the name of its value."""
