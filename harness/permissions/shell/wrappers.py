"""Tables of the programs that run other commands: wrappers, carriers, runners.

A wrapper does nothing but run the words behind its options. A carrier runs some of its words, and which is not known
here. A runner does much else, and runs words behind a subcommand.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from harness.permissions.name_sets import names
from harness.permissions.programs.grammar import option_names
from harness.permissions.shell.syntax import Word


@dataclass(frozen=True, slots=True)
class WrapperOptions:
    """The options of a wrapper, each with its value, and the words behind them."""

    given: tuple[tuple[str, str], ...]
    rest: tuple[Word, ...]

    def has(self, wanted: str) -> bool:
        return any(name in option_names(wanted) for name, _ in self.given)

    def values(self, wanted: str) -> tuple[str, ...]:
        return tuple(value for name, value in self.given if name in option_names(wanted))


@dataclass(frozen=True, slots=True)
class Wrapper:
    """Options are written as in `programs.grammar`: letters are short options, `--name` is a long one."""

    flags: str = ""
    """Without a value."""
    values: str = ""
    """With a value."""
    maybe: str = ""
    """With an attached value, or without a value."""
    acts: str = ""
    """Those of them with which it does more than run a command."""
    own: str = ""
    """Form of the one argument of its own before the command."""
    adds: bool = False
    """It adds words of its own to the command."""
    transparent: bool = True

    def read(self, words: Sequence[Word]) -> WrapperOptions | None:
        """The options up to the first word that is none; None where one of them is not known here."""
        given: list[tuple[str, str]] = []
        position = 0
        while position < len(words):
            word = words[position]
            if not word.known or not word.text.startswith("-") or word.text == "-":
                if word.text.startswith("-") and word.text != "-":
                    return None
                break
            position += 1
            if word.text == "--":
                break
            following = words[position] if position < len(words) else None
            taken = self._option(word.text, following, given)
            if taken is None:
                return None
            position += taken
        return WrapperOptions(tuple(given), tuple(words[position:]))

    def _option(self, text: str, following: Word | None, given: list[tuple[str, str]]) -> int | None:
        flags, values, maybe = option_names(self.flags), option_names(self.values), option_names(self.maybe)
        if text.startswith("--"):
            name, equals, value = text.partition("=")
            if not (name in maybe or (name in values if equals else name in values | flags)):
                return None
            if name not in values or equals:
                given.append((name, value))
                return 0
            return _separate(name, following, given)
        for number, letter in enumerate(text[1:], start=2):
            name, glued = f"-{letter}", text[number:]
            if name in maybe or (name in values and glued):
                given.append((name, glued))
                return 0
            if name in values:
                return _separate(name, following, given)
            if name not in flags:
                return None
            given.append((name, ""))
        return 0


def _separate(name: str, following: Word | None, given: list[tuple[str, str]]) -> int | None:
    if following is None or not following.known:
        return None
    given.append((name, following.text))
    return 1


WATCH = Wrapper(
    "bcegprtwx --beep --color --errexit --chgexit --precise --no-rerun --no-title --no-wrap --exec",
    "n --interval",
    "--differences",
)
_SCHEDULED = "[0-9]+"
_SLICE = r"[0-9a-fA-Fx,-]+"
DURATION = r"[0-9.]+[smhd]?"
"""Form of a time in seconds, or with its unit."""

WRAPPERS: Mapping[str, Wrapper] = MappingProxyType(
    {
        "env": Wrapper(
            "i0v --ignore-environment --null --debug",
            "u --unset",
            acts="iu --ignore-environment --unset",  # what makes git safe is among the variables
        ),
        "nice": Wrapper("0123456789", "n --adjustment"),
        "sudo": Wrapper(
            "nEHSbkAP --non-interactive --set-home --background --stdin --askpass",
            "ugpCT --user --group --prompt",
            "--preserve-env",
        ),
        "doas": Wrapper("nL", "uC"),
        "nohup": Wrapper(),
        "setsid": Wrapper("cfw --ctty --fork --wait"),
        "stdbuf": Wrapper("", "ioe --input --output --error"),
        "timeout": Wrapper("v --preserve-status --foreground --verbose", "ks --signal --kill-after", own=DURATION),
        "gtimeout": Wrapper("v --preserve-status --foreground --verbose", "ks --signal --kill-after", own=DURATION),
        "time": Wrapper(
            "apqvlh --append --portability --quiet --verbose", "of --output --format", acts="oa --output --append"
        ),
        "gtime": Wrapper(
            "apqv --append --portability --quiet --verbose", "of --output --format", acts="oa --output --append"
        ),
        "ionice": Wrapper("t --ignore", "cn --class --classdata"),
        "chrt": Wrapper("fr --fifo --rr", own=_SCHEDULED),
        "taskset": Wrapper("c --cpu-list", own=_SLICE),
        "command": Wrapper("p"),
        "builtin": Wrapper(),
        "exec": Wrapper("cl", "a", acts="c"),
        "caffeinate": Wrapper("dimsu", "tw"),
        "busybox": Wrapper(transparent=False),
        "toybox": Wrapper(transparent=False),
        "xargs": Wrapper(
            "0rtxpo --null --no-run-if-empty --verbose --exit --interactive --open-tty",
            "aEILnPsd --arg-file --delimiter --max-args --max-procs --max-chars",
            "iel --replace --max-lines --eof",
            acts="a --arg-file",
            adds=True,
        ),
    }
)
"""What does nothing but run its words, with the options that change nothing about which words are run."""


CARRIERS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(
            names(
                "pkexec run0 gosu su-exec setarch linux32 linux64 i386 i486 i586 i686 x86_64 uname26 "
                "ppc32 arch unshare nsenter chroot prlimit setpriv systemd-inhibit systemd-cat ltrace strace truss "
                "dtruss ktrace gdb "
                "gdbserver lldb rr valgrind perf dbus-run-session dbus-launch faketime torsocks torify tsocks "
                "proxychains proxychains4 trickle ssh-agent gpg-agent rlwrap rlfe unbuffer catchsegv eatmydata "
                "cpulimit "
                "numactl cgexec chpst softlimit setuidgid envdir envuidgid fakeroot fakechroot bwrap firejail "
                "sandbox-exec sshpass direnv op aws-vault doppler chamber envchain sops foreman honcho dotenv dotenvx "
                "env-cmd cross-env rbenv pyenv nodenv asdf volta fnm conda mamba micromamba pixi distrobox toolbox "
                "tini dumb-init start-stop-daemon daemonize daemon chronic ifne logsave ld.so ld-linux-x86-64.so.2 "
                "ld-linux-aarch64.so.1 ld-musl-x86_64.so.1 tsp nocache schedtool cset multitime cgroup-run uvx pipx"
            ),
            "",
        ),
        "flock": "c --command",
        "lockf": "",
        "xvfb-run": "",
        "systemd-run": "",
        "mise": "c --command",
        "rtx": "c --command",
        "nodemon": "x --exec",
        "asciinema": "c --command",
        "tmux": "c",
        "screen": "X",
    }
)
"""Programs that run some of their words, with the options whose value is a command line."""
JOINERS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(names("su runuser sg newgrp script"), "c --command --session-command"),
        **dict.fromkeys(names("parallel sem expect at batch entr watchexec reflex concurrently hyperfine bench"), ""),
        **dict.fromkeys(names("capsh mispipe pee guix nix devbox flatpak runcon"), ""),
        "nix-shell": "--run --command",
    }
)
"""Programs that make a command line of their words or of what they read, by rules of their own: opaque."""


def runs_next_word(text: str, texts: str) -> bool | None:
    """Whether the next word is a command line; None: this word may hold one itself."""
    wanted = option_names(texts)
    if text.startswith("--"):
        if text in wanted:
            return True
        return None if any(option.startswith(text.partition("=")[0]) for option in wanted) and text != "--" else False
    letters = [letter for letter in text[1:] if f"-{letter}" in wanted]
    return False if not letters else True if text.endswith(letters[0]) else None


@dataclass(frozen=True, slots=True)
class SubcommandRunner:
    """A program that does much else, and runs words behind a subcommand."""

    subcommand: tuple[str, ...]
    options: Wrapper = Wrapper()
    texts: str = ""
    instead: str = ""
    """Options with which it runs no command of the line: a module, a script."""


RUNNERS: Mapping[str, SubcommandRunner] = MappingProxyType(
    {
        "uv": SubcommandRunner(
            ("run",),
            Wrapper(
                "qvnUms --quiet --verbose --all-extras --dev --no-dev --only-dev --all-groups --no-default-groups "
                "--frozen --locked --no-sync --no-project --isolated --active --exact --offline --all-packages "
                "--no-progress --upgrade --no-cache --no-config --no-env-file --module --script",
                "p --python --with --with-editable --with-requirements --extra --no-extra --group --no-group "
                "--only-group --package --color --index --default-index",
            ),
            instead="ms --module --script",
        ),
        **dict.fromkeys(("poetry", "pipenv", "pdm", "hatch", "rye"), SubcommandRunner(("run",), Wrapper("qvn"))),
        "bundle": SubcommandRunner(("exec",), Wrapper("--keep-file-descriptors")),
        **dict.fromkeys(
            ("npm", "pnpm", "yarn"),
            SubcommandRunner(("exec",), Wrapper("yq --yes --quiet --silent --no", "p --package"), "c --call"),
        ),
        **dict.fromkeys(
            ("npx", "bunx"),
            SubcommandRunner((), Wrapper("yq --yes --no-install --quiet --no", "p --package"), "c --call"),
        ),
    }
)
