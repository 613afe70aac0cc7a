"""Decides whether a sandbox holds a command line, so that the line runs without a question.

The system keeps such a line to the workspace, so its programs need not be known. Two kinds are known here: programs
that are useless in a sandbox because they work elsewhere, and commands that lose something for good inside it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial

from harness.permissions.dangers import INTERPRETERS, UNKNOWN_TEXT, WHATEVER, as_git
from harness.permissions.disk import Disk
from harness.permissions.name_sets import names
from harness.permissions.programs.git import GlobalOptions
from harness.permissions.protected_places import Surroundings, leads_to
from harness.permissions.requirements import READS, Requirement, RequirementKind
from harness.permissions.shell.resolution import base_name
from harness.sandbox import NOTHING_MORE, Allowance, Profile, ProfileName


class HeldBy(Enum):
    """The condition under which a profile makes the problem with a part of a line harmless."""

    NOTHING = "nothing"
    """No profile makes it harmless."""
    PROFILE = "profile"
    """None: whatever the part does stays in the workspace."""
    VISIBLE = "visible"
    """Its paths may be read, so nothing there is secret."""
    HIDDEN = "hidden"
    """Its paths cannot be read."""
    PRIVATE = "private"
    """Its paths are in the private temporary folder."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a path or a command is not allowed."""

    why: str
    patterns: bool = True
    """A rule with a wildcard can allow it."""
    held: HeldBy = HeldBy.PROFILE
    paths: tuple[str, ...] = ()
    """What `held` is about; absolute, links resolved."""

    def is_held(self, granted: Profile, home: str) -> bool:
        """Whether a profile makes it harmless. `home`: that of the user, absolute."""
        match self.held:
            case HeldBy.VISIBLE:
                return all(map(partial(_is_visible, granted, home), self.paths))
            case HeldBy.HIDDEN:
                return not any(map(granted.access, self.paths))
            case HeldBy.PRIVATE:
                return all(_is_private(f"{path}/", home) for path in self.paths)
            case _:
                return self.held is HeldBy.PROFILE


def _is_visible(granted: Profile, home: str, path: str) -> bool:
    return bool(granted.access(path) or _OF_THE_KERNEL.fullmatch(path) or _is_private(f"{path}/", home))


Parts = Sequence[tuple[Requirement, Problem | None]]
"""The parts of a call, each with its problem; None: it is allowed."""


def profile_for(parts: Parts, granted: Profile, around: Surroundings, disk: Disk) -> ProfileName | None:
    """The profile that makes a question about a line needless; None: the line needs one, or does not work in a sandbox.

    `granted`: what the profile WORK is on this machine.
    """
    if _only_talks_to_this_machine(parts) or _only_changes_settings(parts) or _removes_a_worktree(parts):
        return None
    private = False
    for need, problem in parts:
        if _works_outside(need) or _loses_something(need):
            return None
        real = real_paths(need, disk)
        outside = [path for path in real if not around.inside(path)]
        if _would_stop_half_way(need, real, granted) or (outside and _of_git(need)[0] == "worktree"):
            return None  # a working tree in the private folder would be gone with the session
        if need.kind is RequirementKind.TOUCH and any(
            path.startswith(f"{around.home}/") and not granted.access(path) for path in outside
        ):
            return None
        held = problem is None or problem.is_held(granted, around.home) or _runs_a_program(need)
        if not held and not _removes_private(need, parts, around.home):
            return None
        private = private or any(_is_private(f"{path}/", around.home) for path in outside)
    reads = all(problem is None or need.kind in READS for need, problem in parts)
    return ProfileName.LOOK if reads and not private else ProfileName.WORK


def real_paths(need: Requirement, disk: Disk) -> tuple[str, ...]:
    """Where the paths of a requirement lead, as far as that is known."""
    return tuple(lead for path in need.paths for lead in disk.places.get(path) or leads_to(path, disk)[:1])


def sees_outside(parts: Parts) -> str:
    """The program that shows what a sandbox hides; empty: none."""
    return next((base_name(need.words[0].text) for need, _ in parts if _works_outside(need)), "")


def what_git_exchanges(parts: Parts, granted: Profile, around: Surroundings, disk: Disk) -> Allowance:
    """What is read-only in the profile WORK, and open to a line in which git exchanges files of the workspace for those
    of a commit: git would stop in the middle of that.

    Where nothing else acts in the line that is all but hooks and settings of git, also what removing a worktree needs;
    else what git tracks. Never what the line itself writes, as by `> FILE`.
    """
    acting = [_of_git(need) for need in _acting(parts)]
    if not any(words[0] in _EXCHANGING for words in acting):
        return NOTHING_MORE
    paths = [path for need, _ in parts if need.kind is RequirementKind.WRITE for path in need.paths]
    written = [lead for path in paths for lead in leads_to(path, disk)]

    def by_git(path: str) -> bool:
        return not any(f"{one}/".startswith(f"{path}/") for one in written)

    if not _alone(acting):
        return Allowance(tuple(filter(by_git, granted.of_git)))
    own = {f"{root}/.git" for root in granted.writable}
    own |= {path for path in granted.read_only if not around.run_or_obeyed(path) and path not in granted.of_git}
    others = (path for path in granted.read_only if path not in own and by_git(path))

    def exchanged(path: str) -> bool:
        return "/.git/" not in path or ("/.git/worktrees/" in path and not around.apart)

    return Allowance(tuple(filter(exchanged, others)))


def _of_git(need: Requirement) -> tuple[str, str]:
    """The subcommand of git and the word behind it; empty: there is none."""
    git = as_git(need.words)
    first, second, *_ = (*(word.text for word in git.rest[:2]), "", "") if git else ("", "")
    return first, second


def _removes_a_worktree(parts: Parts) -> bool:
    """Beside another program: the file that says where the folder of git is stays closed to that."""
    acting = [_of_git(need) for need in _acting(parts)]
    return any(words[0] == "worktree" and words[1] != "add" for words in acting) and not _alone(acting)


def _would_stop_half_way(need: Requirement, real: Sequence[str], granted: Profile) -> bool:
    """git moves or removes a folder around what the profile keeps in its place, as a submodule."""
    git = as_git(need.words)
    texts = [word.text for word in git.rest] if git else []
    if texts[:1] not in (["mv"], ["rm"]) or "--cached" in texts or need.shown not in texts[1:]:
        return False
    return any(f"{one}/".startswith(f"{path}/") for path in real for one in granted.read_only)


def _alone(acting: Sequence[tuple[str, str]]) -> bool:
    return all(words[0] in _EXCHANGING | _BESIDE and words != ("bisect", "run") for words in acting)


# ── what a sandbox is in the way of ─────────────────────────────────────────────────────────────

_SEES = names(
    "ps pgrep pidof pstree top htop lsof fuser ss netstat ip ifconfig who w last users nvidia-smi journalctl crontab "
    "atq docker podman systemctl service launchctl loginctl kubectl"
)
"""Programs that show what a sandbox hides: processes, connections and services of this machine."""
_ELSEWHERE = names(
    "ssh scp sftp sshfs mosh autossh ssh-add ssh-copy-id gpg pass op docker-compose nerdctl at batch machinectl renice "
    "helm minikube kind terraform tofu vagrant ansible ansible-playbook aws gcloud az gh glab fly flyctl heroku vercel "
    "netlify firebase wrangler psql pg_dump createdb dropdb mysql mysqldump redis-cli mongo mongosh xdg-open open "
    "osascript notify-send xclip xsel wl-copy wl-paste pbcopy pbpaste code adb fastboot"
)
"""Programs that work with other machines, services, devices and windows, or with logins that a sandbox hides."""
_OF_THE_SYSTEM = names("apt apt-get aptitude dpkg snap flatpak yum dnf rpm zypper pacman apk brew port emerge nix-env")
"""Package managers of the system; what they show is visible in a sandbox."""
_REMOTE = names("push fetch pull ls-remote fetch-pack send-pack http-push send-email svn p4 lfs credential")
"""Subcommands of git for repositories elsewhere, with logins that a sandbox hides."""
_EXCHANGING = names("switch checkout stash merge revert cherry-pick bisect worktree")
"""Subcommands of git that take the content of files from a commit, and run no other program for that."""
_BESIDE = names("add branch tag")
"""Those that usually come with them in a line."""
_REMOTE_LOOKS = names("-v --verbose show get-url prune update")
_OF_A_BRANCH = names("-m -M --move -u --set-upstream-to --unset-upstream --edit-description")
"""Options of `git branch` that write the settings of the repository."""
_OF_THE_KERNEL = re.compile(r"/proc/(?!net)[a-z].*", re.DOTALL)
"""Files that are the same in a sandbox: not those of processes and of the network."""
_QUOTED = re.compile(r"""'[^']*'|"(?:\\.|[^"\\])*"|\\.""", re.DOTALL)
_THIS_MACHINE = re.compile(r"(?:\w+://)?(?:[^/@]*@)?(?:localhost|127(?:\.\d+){3}|0\.0\.0\.0|\[?::1\]?)(?:[:/].*)?")


def _works_outside(need: Requirement) -> bool:
    if need.kind is not RequirementKind.COMMAND or not need.words:
        return False
    name, rest = base_name(need.words[0].text), need.words[1:]
    if name in _SEES | _ELSEWHERE or (name in _OF_THE_SYSTEM and not need.looks):
        return True
    if (git := as_git(need.words)) is not None and git.rest:
        return _is_elsewhere(git, looks=need.looks)
    if name == "rsync":
        return any(re.match(r"(?:[\w.-]+@)?[\w.-]+:", word.text) for word in rest)
    return name == "kill" and any(word.known and word.text.isdecimal() for word in rest)


def _is_elsewhere(git: GlobalOptions, *, looks: bool) -> bool:
    subcommand, rest = git.rest[0].text, git.rest[1:]
    named = [word.text for word in rest if not word.text.startswith("-")]
    match subcommand:
        case "clone":
            return not any(text.startswith("https://") for text in named)
        case "remote":
            return named[:1] == ["update"] or (len(named) > 1 and named[0] in ("show", "prune", "set-head"))
        case "submodule":
            return named[:1] in (["add"], ["update"])
        case "config":
            return not looks and any(word.text in ("--global", "--system") for word in rest)
        case _:
            return subcommand in _REMOTE


def _acting(parts: Parts) -> list[Requirement]:
    """The commands that do more than look, each with its own words."""
    return [need for need, _ in parts if need.kind is RequirementKind.COMMAND and not (need.looks or need.implied)]


def _is_client(need: Requirement) -> bool:
    return any(_THIS_MACHINE.fullmatch(word.text) for word in need.words)


def _only_changes_settings(parts: Parts) -> bool:
    """All that acts changes the settings of a repository, which are read-only in a sandbox."""
    acting = [need for need, _ in parts if need.kind is RequirementKind.COMMAND and not need.looks]
    gits = [git for git in (as_git(need.words) for need in acting) if git and git.rest]
    words = [[word.text for word in git.rest] for git in gits]
    return bool(words) and len(words) == len(acting) and all(map(_changes_settings, words))


def _changes_settings(words: Sequence[str]) -> bool:
    match words[0]:
        case "remote":
            return words[1:2] != [] and words[1] not in _REMOTE_LOOKS
        case "sparse-checkout":
            return words[1:2] != ["list"]
        case "branch":
            return any(word in _OF_A_BRANCH or word.startswith("--set-upstream-to=") for word in words)
        case "config":
            return not any(word in ("--list", "-l", "list", "get") or word.startswith("--get") for word in words)
        case _:
            return False


def _only_talks_to_this_machine(parts: Parts) -> bool:
    """All that acts talks to a server on this machine that the line does not start: a sandbox has its own ports."""
    acting = _acting(parts)
    return bool(acting) and all(map(_is_client, acting))


def leaves_a_server(line: str, parts: Parts) -> bool:
    """It starts something in the background that the line itself does not talk to, perhaps a server."""
    job = re.search(r"(?<![<>&])&(?![>&])", _QUOTED.sub("", line))
    return job is not None and not any(_is_client(need) for need, _ in parts)


# ── what a sandbox does not make up for, and what it does ───────────────────────────────────────


def _loses_something(need: Requirement) -> bool:
    """The command rewrites history or empties a file, which is not among its dangers."""
    if need.kind is not RequirementKind.COMMAND or not need.words or need.looks:
        return False
    git = as_git(need.words)
    if git is None or not git.rest:
        return base_name(need.words[0].text) == "truncate"
    texts = [word.text for word in git.rest[1:]]
    match git.rest[0].text:
        case "rebase" | "replace" | "update-ref":
            return True
        case "commit":
            return "--amend" in texts
        case "reset":
            before = texts[: texts.index("--")] if "--" in texts else texts
            return any(text != "HEAD" and not text.startswith("-") for text in before)
        case _:
            return False


def _runs_a_program(need: Requirement) -> bool:
    """Its only danger is that it runs a program in another language: a script with an unknown name, or one in a
    here-document."""
    if not need.dangers or not need.words or base_name(need.words[0].text) not in INTERPRETERS:
        return False
    written = "<<" in need.shown and not any("<<" in word.text for word in need.words)
    return {UNKNOWN_TEXT, WHATEVER} >= {*need.dangers} and (written or WHATEVER not in need.dangers)


def _removes_private(need: Requirement, parts: Parts, home: str) -> bool:
    """It is rm of nothing but files in the private temporary folder."""
    if not need.dangers or not need.words or base_name(need.words[0].text) != "rm":
        return False
    removed = [problem for one, problem in parts if one.kind is RequirementKind.WRITE and one.words == need.words]
    return bool(removed) and all(
        problem is not None
        and problem.held is HeldBy.PRIVATE
        and all(_is_private(path, home) for path in problem.paths)
        for problem in removed
    )


def _is_private(path: str, home: str) -> bool:
    """In a sandbox it is below a private folder: those of this machine are not visible there."""
    return path.startswith(("/tmp/", "/var/tmp/")) and not path.startswith(f"{home}/")
