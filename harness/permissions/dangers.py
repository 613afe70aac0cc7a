"""Commands that need confirmation in every mode that asks, with the reason."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

from harness.permissions.arguments import ParsedArguments
from harness.permissions.name_sets import names
from harness.permissions.programs.git import GlobalOptions, global_options
from harness.permissions.shell.resolution import SHELLS, ResolvedCommand, base_name
from harness.permissions.shell.syntax import SimpleCommand, Word, WordKind
from harness.permissions.variables import harmless_library, harmless_program
from harness.processes.git_safety import harmless_setting

INTERPRETERS = names("python python2 python3 node deno bun perl ruby php lua osascript pwsh powershell tclsh")

UNKNOWN_PROGRAM = "what it runs is known only when the shell has run"
UNKNOWN_TEXT = "it runs text that is known only when the shell has run"
WHATEVER = "it runs whatever its input holds"
GIT_SETTINGS = "it gives git settings that may make it run anything"
OPAQUE = frozenset({UNKNOWN_PROGRAM, UNKNOWN_TEXT, WHATEVER, GIT_SETTINGS})
"""Dangers that can hide any command, even one that a rule denies."""

_REROUTES = re.compile(
    r"PATH|IFS|ENV|BASH_ENV|SHELLOPTS|BASHOPTS|PROMPT_COMMAND|PS4|CDPATH|HOME|(LD|DYLD|GIT|BASH_FUNC)_\w*"
    r"|PYTHON(PATH|STARTUP|HOME)|NODE_OPTIONS|PERL5\w*|RUBY(OPT|LIB)|JAVA_TOOL_OPTIONS|EDITOR|VISUAL|PAGER|SHELL"
    r"|(?i:npm_config_(script_shell|shell|node_options|git|userconfig|globalconfig|prefix))|(GNU)?MAKEFLAGS|MAKEFILES"
    r"|(CARGO_BUILD_)?RUSTC(_\w+)?|GOFLAGS|TAR_OPTIONS|GCONV_PATH|RIPGREP_CONFIG_PATH|BASH_FUNC_.*"
)
"""Variables that change which program runs, or make one run another."""

Check = Callable[[ParsedArguments], str]
"""The danger of a command with these arguments, in a few words; empty: none."""


def dangers(simple: SimpleCommand) -> tuple[str, ...]:
    """Every known danger of a command."""
    rerouted = [
        one.name
        for one in simple.assignments
        if _REROUTES.fullmatch(one.name) and not (harmless_library(one) or harmless_program(one))
    ]
    found = [f"it sets {', '.join(rerouted)}, so that something else may run"] if rerouted else []
    if danger := _of_program(simple):
        found.append(danger)
    return tuple(found)


def dangers_of(run: ResolvedCommand) -> tuple[str, ...]:
    """The same for a command inside a line; text that was read is judged by its own commands."""
    found = dangers(replace(run.simple, words=()) if run.understood else run.simple)
    return (*found, UNKNOWN_TEXT) if run.opaque and OPAQUE.isdisjoint(found) else found


def _of_program(simple: SimpleCommand) -> str:
    if not simple.words:
        return ""
    first, arguments = simple.words[0], ParsedArguments(simple.words[1:])
    if not first.known:
        return UNKNOWN_PROGRAM
    name = base_name(first.text)
    if name in SHELLS:
        return _shell(arguments)
    if name in INTERPRETERS or name.startswith("python3."):
        return _interpreter(arguments)
    if (git := as_git(simple.words)) is not None:
        return _git(git)
    if name.startswith("mkfs"):
        return "it formats a disk"
    check = _CHECKS.get(name)
    return check(arguments) if check else _NAMES.get(name, "")


def as_git(words: tuple[Word, ...]) -> GlobalOptions | None:
    """A git command in parts; None where it is another program. `git-push` is `git push`."""
    if not words or not words[0].known:
        return None
    name, dash, subcommand = base_name(words[0].text).partition("-")
    if name != "git":
        return None
    return GlobalOptions((Word(subcommand), *words[1:])) if dash else global_options(words[1:])


# ── text that is run ────────────────────────────────────────────────────────────────────────────


def _shell(arguments: ParsedArguments) -> str:
    if [word.text for word in arguments.words] in (["--version"], ["--help"]):
        return ""
    if arguments.has("c"):
        return UNKNOWN_TEXT
    return _script(arguments, "s")


def _interpreter(arguments: ParsedArguments) -> str:
    if any(word.kind is WordKind.PIPE for word in arguments.words):
        return "it runs the output of another command"
    if arguments.options and not arguments.positionals:
        return ""
    return _script(arguments, "")


def _script(arguments: ParsedArguments, reads_input: str) -> str:
    script = arguments.positionals[0] if arguments.positionals else None
    if script is None or script.text in ("-", "/dev/stdin") or arguments.has(reads_input):
        return WHATEVER
    if script.kind is not WordKind.LITERAL:
        return UNKNOWN_TEXT
    return ""


def _sources(arguments: ParsedArguments) -> str:
    return _script(arguments, "")


# ── files and disks ─────────────────────────────────────────────────────────────────────────────


_FOR_GOOD = "it removes files for good: what git does not have in this state cannot be brought back"


def _rm(arguments: ParsedArguments) -> str:
    forced = arguments.has("rRf", "--recursive", "--force", "--no-preserve-root")
    unnamed = any(word.kind is not WordKind.LITERAL or word.text in ("/", "~", "..") for word in arguments.positionals)
    return _both(
        "it removes files for good, whole folders or without a question" if forced else "",
        "it removes files that are not named one by one" if unnamed else "",
    ) or (_FOR_GOOD if arguments.positionals else "")


def _find(arguments: ParsedArguments) -> str:
    texts = [word.text for word in arguments.words]
    return _both(
        "it removes every file that it finds" if "-delete" in texts else "",
        "it writes a file" if {"-fprint", "-fprint0", "-fprintf", "-fls"} & set(texts) else "",
    )


def _chmod(arguments: ParsedArguments) -> str:
    mode = arguments.positionals[0].text if arguments.positionals else ""
    digits = mode.lstrip("0") if mode.isdigit() else ""
    opens = bool(digits and (int(digits[-1]) & 2 or len(digits) > 3)) or _opens(mode)
    return _both(
        "everybody may write what it changes, or run it as its owner" if opens else "",
        "it changes the rights of whole folders" if arguments.has("R", "--recursive") else "",
    )


def _opens(mode: str) -> bool:
    for part in mode.split(","):
        who, sign, what = part.partition("+") if "+" in part else part.partition("=")
        if sign and (("w" in what and (not who or set(who) & set("oa"))) or "s" in what):
            return True
    return False


def _recursive(why: str) -> Check:
    return lambda arguments: why if arguments.has("R", "--recursive") else ""


def _rsync(arguments: ParsedArguments) -> str:
    return (
        "it removes what the other side does not have"
        if arguments.has("", "--del", "--remove-source-files") or arguments.values("--delete")
        else ""
    )


def _tar(arguments: ParsedArguments) -> str:
    if arguments.has("", "--remove-files", "--recursive-unlink", "--unlink-first"):
        return _FOR_GOOD
    first = arguments.words[0].text if arguments.words else ""  # a cluster of options, also without a dash
    runs = arguments.has("IF", *_TAR_RUNS) or re.fullmatch("[a-zA-Z]*[IF][a-zA-Z]*", first)
    return "it runs commands of its own" if runs else ""


_TAR_RUNS = (
    *("--checkpoint-action", "--to-command", "--use-compress-program", "--info-script", "--new-volume-script"),
    *("--rsh-command", "--rmt-command"),
)


def _sed(arguments: ParsedArguments) -> str:
    """Scripts of sed can run and write; a plain s/…/…/ with known flags cannot."""
    for word in arguments.positionals[:1]:
        tail = word.text.rsplit(word.text[1:2] or "/", 1)[-1]
        if word.text[:1] == "s" and ("e" in tail or "w" in tail):
            return "its script runs or writes something"
    return ""


# ── git ─────────────────────────────────────────────────────────────────────────────────────────


def _git(git: GlobalOptions) -> str:
    words = git.rest
    check = _GIT.get(words[0].text) if words else None
    if git.opaque:
        return GIT_SETTINGS
    return _both(
        "it works on another repository, whose settings may name programs" if git.elsewhere else "",
        check(ParsedArguments(words[1:])) if check else "",
    )


def _git_push(arguments: ParsedArguments) -> str:
    forces = arguments.has("f", "--force", "--force-with-lease", "--force-if-includes") or any(
        word.text.startswith("+") for word in arguments.positionals
    )
    removes = arguments.has("d", "--delete", "--mirror", "--prune") or any(
        word.text.startswith(":") for word in arguments.positionals
    )
    return _both(
        "it writes over what others have pushed" if forces else "",
        "it removes branches elsewhere" if removes else _git_transport(arguments),
    )


def _git_transport(arguments: ParsedArguments) -> str:
    programs = arguments.has("", "--upload-pack", "--receive-pack", "--exec")
    return _GIT_RUNS if programs or any("::" in word.text for word in arguments.positionals) else ""


def _git_clone(arguments: ParsedArguments) -> str:
    """Its -u names a program, its -c a setting."""
    return _GIT_RUNS if arguments.has("uc", "--config", "--template") else _git_transport(arguments)


def _git_config(arguments: ParsedArguments) -> str:
    """Settings not known to be harmless, and files other than git's own."""
    if arguments.has("fe", "--file", "--edit"):
        return _GIT_OBEYS
    if arguments.has("l", "--get", "--list", "--get-all", "--get-regexp", "--get-urlmatch"):
        return ""
    words = arguments.positionals
    if words and words[0].text in ("get", "list", "unset"):
        return ""
    words = words[1:] if words and words[0].text == "set" else words
    if len(words) < 2:
        return ""
    key, value = words[0], words[1].text if words[1].known else "!"  # as good as a program
    return "" if key.known and harmless_setting(key.text, value) else _GIT_OBEYS


_FILE = re.compile(r"\.|.*/|:.*|.*\.[A-Za-z]\w*")
"""What names a file or a folder, and hardly a branch."""


def _git_checkout(arguments: ParsedArguments) -> str:
    dashes = any(word.text == "--" for word in arguments.words)
    named = arguments.positionals
    paths = any(_FILE.fullmatch(word.text) for word in named) or (
        len(named) > 1 and not arguments.has("bt", "--orphan", "--track")
    )
    return _LOST if dashes or arguments.has("fB", "--force") or paths else ""


def _both(one: str, other: str) -> str:
    """Two reasons as one text; either may be empty."""
    return ", and ".join(filter(None, (one, other)))


def _first(names: tuple[str, ...], why: str) -> Check:
    return lambda arguments: why if arguments.positionals and arguments.positionals[0].text in names else ""


def _with(why: str, short: str, *long: str) -> Check:
    return lambda arguments: why if arguments.has(short, *long) else ""


def _always(why: str) -> Check:
    return lambda arguments: why


_GIT_RUNS = "it names a program that git runs"
_GIT_OBEYS = "git runs what it says"
_LOST = "changes that were not committed are lost"
_UNFINDABLE = "it removes what lost commits are found by"
_GIT: Mapping[str, Check] = MappingProxyType(
    {
        "push": _git_push,
        "read-tree": _with(_LOST, "u", "--reset"),
        "checkout-index": _with(_LOST, "f", "--force"),
        "mv": _with("it writes over a file", "f", "--force"),
        "prune": lambda arguments: "" if arguments.has("n", "--dry-run") else _UNFINDABLE,
        "fast-import": _with("it writes history anew", "", "--force"),
        "reset": _with(_LOST, "", "--hard", "--merge", "--keep"),
        "checkout": _git_checkout,
        "switch": _with(_LOST, "fC", "--force", "--discard-changes", "--force-create"),
        "restore": lambda arguments: (
            "" if arguments.has("S", "--staged") and not arguments.has("W", "--worktree") else _LOST
        ),
        "clean": lambda arguments: "" if arguments.has("n", "--dry-run") else "it removes files that git does not know",
        "branch": _with("a branch is removed or moved, whether it is merged or not", "DMCf", "--force", "--delete"),
        "tag": _with("a tag is removed or moved", "df", "--delete", "--force"),
        "stash": _first(("drop", "clear"), "stashed changes are removed for good"),
        "rm": _with("it removes files", "rf", "--force"),
        "filter-branch": _always("it writes history anew"),
        "filter-repo": _always("it writes history anew"),
        "reflog": _first(("expire", "delete"), _UNFINDABLE),
        "gc": _with(_UNFINDABLE, "", "--prune"),
        "update-ref": _with("a branch is removed", "d"),
        "worktree": lambda arguments: (
            "a work tree is removed with its changes"
            if arguments.has("f", "--force") and arguments.positionals[:1] and arguments.positionals[0].text == "remove"
            else ""
        ),
        "config": _git_config,
        "clone": _git_clone,
        **dict.fromkeys(("fetch", "pull", "ls-remote", "archive", "fetch-pack", "send-pack"), _git_transport),
        "rebase": _with("it runs a command for every commit", "x", "--exec"),
        "grep": _with(_GIT_RUNS, "O", "--open-files-in-pager"),
        **dict.fromkeys(("difftool", "mergetool"), _with(_GIT_RUNS, "x", "--extcmd")),
        **dict.fromkeys(("log", "show", "diff"), _with("it writes a file", "", "--output")),
        **dict.fromkeys(("hook", "daemon", "instaweb", "send-email", "credential"), _always(_GIT_RUNS)),
        "for-each-repo": _always(_GIT_RUNS),
        "submodule": _first(("foreach", "deinit"), "it runs a command in every submodule or removes them"),
    }
)


# ── the rest ────────────────────────────────────────────────────────────────────────────────────


def _docker(arguments: ParsedArguments) -> str:
    words = [word.text for word in arguments.positionals]
    if arguments.has("", "--privileged") or any(word.startswith(("/:", "/var/run/docker.sock")) for word in words):
        return "the container may do anything to this machine"
    if words[:2] in (["system", "prune"], ["volume", "prune"], ["volume", "rm"], ["image", "prune"]):
        return "it removes images or data"
    return ""


def _systemctl(arguments: ParsedArguments) -> str:
    ends = ("poweroff", "reboot", "halt", "kexec", "suspend", "hibernate", "rescue", "emergency")
    words = [word.text for word in arguments.positionals]
    return "it stops this machine" if words and words[0] in ends else ""


_ANOTHER = "it runs as another user"
_DISK = "it writes to a disk past its files"
_STOPS = "it stops this machine"
_ENDS = "it ends processes by name or all at once"
_OUT = "a publication cannot be withdrawn"

_CHECKS: Mapping[str, Check] = MappingProxyType(
    {
        "rm": _rm,
        "find": _find,
        "chmod": _chmod,
        "chown": _recursive("it changes the owner of whole folders"),
        "chgrp": _recursive("it changes the group of whole folders"),
        "rsync": _rsync,
        "tar": _tar,
        "sed": _sed,
        "zip": _with(_FOR_GOOD, "m", "--move"),
        "source": _sources,
        ".": _sources,
        "docker": _docker,
        "podman": _docker,
        "systemctl": _systemctl,
        "eval": _always(UNKNOWN_TEXT),
        "trap": _always(UNKNOWN_TEXT),
        "kill": lambda arguments: _ENDS if any(word.text == "-1" for word in arguments.words[-1:]) else "",
        "crontab": lambda arguments: "" if arguments.has("l") else "it changes a scheduled or automatic command",
        "npm": _first(("publish", "unpublish"), _OUT),
        "pnpm": _first(("publish", "unpublish"), _OUT),
        "yarn": _first(("publish",), _OUT),
        "cargo": _first(("publish", "yank"), _OUT),
        "gem": _first(("push", "yank"), _OUT),
        "twine": _first(("upload",), _OUT),
        "terraform": _first(("apply", "destroy"), "it changes machines elsewhere"),
        "tofu": _first(("apply", "destroy"), "it changes machines elsewhere"),
        "kubectl": _first(("delete", "drain"), "it removes running services elsewhere"),
        "helm": _first(("uninstall", "delete"), "it removes running services elsewhere"),
        "printf": _with("it sets a variable by a name that may run commands", "v"),
    }
)
_NAMES: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("sudo", "su", "doas", "pkexec", "runuser"), _ANOTHER),
        **dict.fromkeys(
            ("dd", "fdisk", "sfdisk", "parted", "wipefs", "mkswap", "blkdiscard", "hdparm", "diskutil"), _DISK
        ),
        **dict.fromkeys(("shutdown", "reboot", "halt", "poweroff", "init", "telinit"), _STOPS),
        **dict.fromkeys(("killall", "pkill", "killall5", "skill"), _ENDS),
        **dict.fromkeys(("mount", "umount", "losetup", "cryptsetup"), "it changes which disks are where"),
        **dict.fromkeys(("useradd", "userdel", "usermod", "passwd", "chpasswd", "visudo"), "it changes who may log in"),
        **dict.fromkeys(("iptables", "nft", "ufw"), "it changes what reaches this machine"),
        "unlink": _FOR_GOOD,
        **dict.fromkeys(("shred", "srm", "wipe", "scrub"), "it removes files for good"),
        "insmod": "it changes the kernel",
        "modprobe": "it changes the kernel",
        "alias": "other commands mean something else then",
        "enable": "other commands mean something else then",
        "parallel": "it runs commands that it makes up",
        "at": "it schedules a command",
        "chroot": "it runs in another root",
        "nsenter": "it runs in another root",
    }
)
