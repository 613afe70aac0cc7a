"""What a person could keep as a rule when they are asked: wide enough to be of use, and never wider than its kind."""

import posixpath

from harness.permissions.names import names
from harness.permissions.needs import SHELL, Need, NeedKind
from harness.permissions.rules import READ, WRITE
from harness.permissions.shell.through import SHELLS, base_name
from harness.permissions.shell.words import Word, WordKind
from harness.permissions.surroundings import Surroundings

_WITH_SUBCOMMANDS = names(
    "git npm pnpm yarn bun cargo go docker podman kubectl pip pip3 uv poetry gh terraform apt apt-get "
    "brew dotnet mvn gradle helm conda rustup bundle composer mix dart flutter swift systemctl just "
    "task nx turbo"
)
_RUNNING = frozenset({"run", "exec", "x", "compose", "tool", "remote", "submodule", "stash", "worktree"})
"""Subcommands of which it matters what follows."""
_NAMED_FIRST = names("python python3 node ruby perl php bash sh deno tsx ts-node make")
"""Programs whose first argument says what is run."""
_EXACTLY = names("curl wget ssh scp sftp rsync nc ncat telnet ftp sudo doas docker podman kubectl")
"""Programs that are only offered as they stand."""


def offer(need: Need, around: Surroundings) -> str | None:
    """A rule that would have allowed this; None where only this one call can be allowed."""
    match need.kind:
        case NeedKind.COMMAND:
            return _command(need)
        case NeedKind.WRITE if need.paths:
            return f"{WRITE}({_files(need.paths[0], around)})"
        case NeedKind.READ if need.paths and not need.pattern:
            return f"{READ}({around.shown(posixpath.normpath(need.paths[0]))})"
        case NeedKind.TOOL if need.tool != SHELL:
            return need.tool
        case _:
            return None


def _command(need: Need) -> str | None:
    if not need.words or need.assignments or any(word.kind is WordKind.UNKNOWN for word in need.words):
        return None
    written = [_quoted(word) for word in need.words]
    if need.dangers or None in written:
        return None
    name = base_name(need.words[0].text)
    texts = [text for text in written if text is not None]
    if name in _EXACTLY or (name in SHELLS and texts[1:2] == ["-c"]):
        return _exactly(need.words, texts)
    if name in _WITH_SUBCOMMANDS and texts[1:2] and texts[1].startswith("-"):
        return _exactly(need.words, texts)
    if name == "npm" and texts[1:2] == ["run"]:
        return _rule([*texts[:2], "*"])
    return _rule([*texts[: _kept(name, need.words)], "*"])


def _kept(name: str, words: tuple[Word, ...]) -> int:
    """How many words in front stay as they are."""
    second = words[1].text if len(words) > 1 else ""
    if name in _WITH_SUBCOMMANDS and second and not second.startswith("-"):
        return min(3 if second in _RUNNING else 2, len(words))
    if name in _NAMED_FIRST and second:
        return min(3 if second.startswith("-") else 2, len(words))
    return 1


def _exactly(words: tuple[Word, ...], texts: list[str]) -> str | None:
    return _rule(texts) if all(word.known for word in words) else None


def _rule(texts: list[str]) -> str:
    return f"{SHELL}({' '.join(texts)})"


def _quoted(word: Word) -> str | None:
    """The word as a pattern that means just itself; None where that cannot be written."""
    if word.kind is WordKind.PIPE or "\n" in word.text:
        return None
    if word.kind is WordKind.GLOB or word.home or all(char.isalnum() or char in "-_./:=,+@%^" for char in word.text):
        return word.text or "''"
    return "'" + word.text.replace("'", "'\\''") + "'"


def _files(path: str, around: Surroundings) -> str:
    """A file at the top of the workspace as it is, any other with its whole folder."""
    shown = around.shown(posixpath.normpath(path))
    folder = posixpath.dirname(shown)
    return shown if folder in ("", "~", "/") or not around.inside(posixpath.normpath(path)) else f"{folder}/**"
