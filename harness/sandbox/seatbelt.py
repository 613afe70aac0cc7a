"""Describes a profile in the language of macOS's sandbox (seatbelt), for `sandbox-exec -p`. Pure.

Written from the manual pages sandbox-exec(1) and sandbox(7) and from the rules that macOS ships in
/System/Library/Sandbox/Profiles. It was not run on a Mac: its tests read the text.

Everything is denied that no rule allows, and of several rules about one file the last one counts, so the rules are in
the order of the lengths of their paths. What the command may not read answers with an error instead of being absent or
empty; where it is, how large and how old it is can be seen. No command reaches the network.
"""

from collections.abc import Sequence

from harness.sandbox.profile import Access, Profile

PROGRAM = "/usr/bin/sandbox-exec"

_OF_EVERY_COMMAND = """\
(version 1)
(deny default)
(allow process-fork)
(allow signal process-info* (target same-sandbox))
(allow sysctl-read)
(allow ipc-posix-sem)
(allow mach-lookup
    (global-name "com.apple.system.opendirectoryd.libinfo")
    (global-name "com.apple.system.notification_center")
    (global-name "com.apple.logd"))
(allow file-read-metadata)
(allow file-read* process-exec*
    (literal "/")
    (subpath "/System")
    (subpath "/usr/lib")
    (subpath "/private/var/db/dyld"))
(allow file-read* file-write-data
    (literal "/dev/null")
    (literal "/dev/zero")
    (literal "/dev/tty")
    (subpath "/dev/fd"))
(allow file-read*
    (literal "/dev/random")
    (literal "/dev/urandom"))
"""
_FILES = {
    Access.NONE: "(deny file-read-data file-read-xattr file-write* process-exec* {})\n",
    Access.READ: "(allow file-read* process-exec* {0})\n(deny file-write* {0})\n",
    Access.WRITE: "(allow file-read* file-write* process-exec* {})\n",
}


def seatbelt_command(profile: Profile, command: Sequence[str]) -> tuple[str, ...]:
    """The command that runs `command`, whose program is a path, held to the profile."""
    return (PROGRAM, "-p", seatbelt_rules(profile), *command)


def seatbelt_rules(profile: Profile) -> str:
    """The text that `sandbox-exec -p` takes."""
    places = sorted(profile.places.items(), key=lambda place: len(place[0]))
    files = (_FILES[access].format(f"(subpath {_quoted(path)})") for path, access in places)
    return f"{_OF_EVERY_COMMAND}{''.join(files)}"


def _quoted(path: str) -> str:
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
