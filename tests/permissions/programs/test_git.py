"""The grammar of git, with git itself as the witness."""

import os
import re
import shlex
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from glob import iglob
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.permissions.name_sets import names
from harness.permissions.programs import PROGRAMS, ParsedCommand, Program, WordRole, parse
from harness.permissions.programs.git import GitListing, listing_of
from harness.permissions.protected_places import Surroundings
from harness.permissions.requirements import RequirementKind, requirements_of
from harness.permissions.shell.parser import read_line
from harness.permissions.shell.syntax import Unreadable, Word, WordKind
from harness.processes.git_safety import safe_environment
from tests.permissions.test_verdicts import bash


def parsed(line: str) -> ParsedCommand | None:
    [simple] = read_line(f"git {line}")
    return parse(PROGRAMS["git"], simple.words[1:])


def looks(line: str) -> bool:
    found = parsed(line)
    return found is not None and found.looks and found.ends


def used(line: str, *roles: WordRole) -> set[str]:
    """The words of a line in these roles; a ^ behind one that may count from the top of the repository."""
    found = parsed(line)
    assert found is not None, line
    return {use.word.text + "^" * use.top for use in found.uses if use.role in roles}


# ── what looks, and what does not ───────────────────────────────────────────────────────────────


def test_a_plain_look_is_in_the_grammar() -> None:
    table = [
        *("--version", "--help", "status", "status -sb --porcelain=v2 -uno"),
        *("--no-pager log --oneline --graph --all -20", "-P -C sub diff --stat", "-c core.quotepath=off status"),
        *("-c color.ui=false diff", "diff", "diff --cached --name-only", "diff HEAD~2..HEAD -- src 'tests/*.py'"),
        *("diff -U10 -w main...feature/x", "show HEAD~1 --stat", "show HEAD:src/a.py", "show v1.2^{commit}"),
        *("log -p -3 --follow -- src/a.py", "log --since='2 weeks ago' --author 'A B' --format='%h %an %ad %s'"),
        *("log -S needle -G 'a.*b' -L 1,20:src/a.py", "rev-parse --abbrev-ref HEAD", "rev-parse --show-toplevel"),
        *("rev-list --count HEAD", "ls-files -o --exclude-standard", "ls-files '*.py' -- docs"),
        *("ls-tree -r --name-only HEAD", "blame -L 1,10 -w src/a.py", "grep -n -i 'def \\w+' -- '*.py'"),
        *("grep -c x HEAD~3", "cat-file -p HEAD^{tree}", "describe --tags --always --dirty", "shortlog -sn HEAD"),
        *("merge-base main HEAD", "for-each-ref --sort=-committerdate --format='%(refname:short)' refs/heads"),
        *("show-ref --heads", "branch", "branch -vv", "branch -a --sort=-committerdate", "branch --show-current"),
        *("branch --merged main", "branch --list 'feature/*'", "tag", "tag -l 'v1.*' --sort=-v:refname"),
        *("tag --contains HEAD", "remote", "remote -v", "remote get-url origin", "stash list"),
        *("stash show -p stash@{0}", "reflog -n 10", "reflog show main", "worktree list --porcelain"),
        *("config --get user.email", "config user.name", "config get core.autocrlf", "notes list", "bisect log"),
        *("submodule status --recursive", "check-ignore -v build", "check-attr -a src/a.py", "count-objects -vH"),
        *("apply --stat a.patch", "apply --check a.patch", "whatchanged -3", "range-diff main...topic"),
        *("cherry -v main", "name-rev HEAD", "show-branch --all", "diff-tree --no-commit-id --name-only -r HEAD"),
        "version",
    ]
    assert [line for line in table if not looks(line)] == []


def test_whatever_else_git_can_do_is_asked_about() -> None:
    table = [
        *("-p log", "--paginate log", "-c alias.x=!touch x", "-c core.fsmonitor=./x status", "-c core.pager=./x log"),
        *("-c filter.x.clean=y status", "--config-env core.pager=HOME log", "--config-env=core.pager=HOME log"),
        *("--exec-path=. status", "--git-dir=x status", "--git-dir x status", "--work-tree=x status", "--bare log"),
        *("--unheard-of status", "-c core.fsmonitor=true status", "--help log", "-h log", "status --help"),
        *("log --help", "help log", "diff --ext-diff", "diff --textconv", "diff --output=x", "diff --outp=x"),
        *("diff --output x", "log -O/etc/passwd", "show --textconv HEAD", "log --show-signature", "log --format=%GS"),
        *("log --pretty=format:%h%+GK", "log --alternate-refs", "log --remerge-diff", "log --diff-merges=remerge"),
        *("log --stdin", "for-each-ref --format='%(signature:key)'", "for-each-ref --sort=signature"),
        *("branch --format='%(signature)'", "rev-list --format=%G? HEAD", "cat-file --filters HEAD:a"),
        *("cat-file --textconv HEAD:a", "cat-file --batch", "cat-file --batch-check=x", "grep -O x", "grep -Ovim x"),
        *("grep -nOvim x", "grep --open-files-in-pager=x y", "grep --textconv x", "branch new"),
        *("branch -f main HEAD~1", "branch -d x", "branch -D x", "branch --list -D x", "branch -m a b"),
        *("branch -l new", "branch --sort=x new", "branch --edit-description", "branch -u origin/main"),
        *("branch --unset-upstream", "tag v1", "tag -d v1", "tag -l -d v1", "tag -v v1", "tag -s v1"),
        *("tag --sort=x v1", "remote add x y", "remote remove x", "remote set-url origin x", "remote show origin"),
        *("remote update", "remote prune origin", "stash", "stash -p", "stash pop", "stash drop"),
        *("stash list --output=x", "reflog expire --all", "reflog delete x", "worktree add x", "worktree prune"),
        *("config user.name x", "config --unset user.name", "config --list", "config -l", "config --get-regexp ."),
        *("config --get http.extraheader", "config --get url.x.insteadof", "config -f x --get user.name"),
        *("config --file=x --get user.name", "config --get credential.helper", "config --get-urlmatch http x"),
        *("config -e", "config set user.name x", "submodule update", "submodule foreach ls", "submodule summary"),
        *("notes add", "notes edit", "bisect run x", "bisect view", "bisect good", "apply a.patch"),
        *("apply --stat --apply a.patch", "add .", "commit -m x", "push", "fetch", "pull", "ls-remote"),
        *("ls-remote origin", "clone x", "checkout main", "switch main", "restore x", "reset --hard", "clean -n"),
        *("rm x", "mv a b", "merge x", "rebase x", "gc", "fsck", "archive HEAD", "bundle create x HEAD"),
        *("format-patch -1", "format-patch --stdout -1", "verify-commit HEAD", "verify-tag v1", "show-index", "var -l"),
        *("difftool", "mergetool", "hash-object -w x", "update-ref x y", "symbolic-ref HEAD"),
        *("symbolic-ref HEAD refs/heads/x", "merge-tree a b c", "hook run x", "maintenance run", "send-email x"),
        *("daemon", "instaweb", "lg", "$x", "status $x", 'log "$x"', "show HEAD:*.py"),
    ]
    assert [line for line in table if looks(line)] == []


def test_a_file_pattern_that_may_become_an_option_is_named() -> None:
    found = parsed("log ?x")
    assert found is not None
    assert [word.text for word in found.turning] == ["?x"]


# ── what its words are ──────────────────────────────────────────────────────────────────────────


READ = {
    ".env^": [
        *("show :0:.env", "cat-file -p :0:.env", "cat-file -p :.env", "cat-file blob HEAD:.env"),
        *("show HEAD@{10:30}:.env", "show -- ':(top,literal).env'", "diff -- :/.env", "diff -- ':!.env'"),
        *("log -L 1,9:.env", "log -L :main:.env", "blame --contents .env a", "blame -S .env a"),
        *("blame --ignore-revs-file=.env a", "grep -f .env", "grep x HEAD:.env", "ls-files -X .env"),
        *("ls-files --exclude-per-directory=.env", "status --pathspec-from-file=.env", "-C sub show HEAD:.env"),
    ],
    "./.env": [
        "show HEAD:./.env",
    ],
    "../x": [
        "show HEAD:../x",
        "-C ../x log",
    ],
    ".env": [
        *("diff .env", "diff HEAD .env", "diff --no-index /dev/null .env", "log -p -- .env", "blame .env"),
        *("grep .env .env", "grep -e x .env", "grep x -- sub .env", "apply --check .env", "commit -F .env", "add .env"),
    ],
    "~/.ssh/id_rsa": [
        "diff ~/.ssh/id_rsa /dev/null",
    ],
    "sub/.env": [
        "-C sub diff .env",
    ],
    "sub/../x/.env": [
        "-C sub -C ../x diff .env",
    ],
    "/a/b/.env": [
        "-C /a -C b show HEAD:.env",
    ],
    "~/x/.env": [
        "-C ~/x diff .env",
    ],
    "x://../../.env": [
        "diff x://../../.env",
    ],
    ".git/config^": [
        "remote -v",
        "config --get remote.origin.url",
    ],
    ".git/BISECT_LOG^": [
        "bisect log",
    ],
    "../elsewhere": [
        "fetch ../elsewhere",
    ],
    "../other": [
        "clone --reference ../other x://a b",
    ],
}
"""The path that may be read, and lines that may read it; a ^: from the top of the repository."""


@pytest.mark.parametrize("path", READ)
def test_every_part_of_a_word_that_may_be_a_path_is_read(path: str) -> None:
    assert [line for line in READ[path] if path not in used(line, WordRole.READ)] == []


@pytest.mark.parametrize("line", ["x://y diff", "push ../elsewhere main"])
def test_an_address_is_no_path(line: str) -> None:
    assert parsed(line) is None or not used(line, WordRole.READ)


def test_the_words_of_a_command_have_their_roles() -> None:
    table = [
        ("diff", WordRole.CHANGED, {".^"}),
        ("diff --stat", WordRole.CHANGED, set()),
        ("diff -- src '*.py' 'a/*.c'", WordRole.CHANGED, {"src", ".", "a"}),
        ("diff -- ':!src'", WordRole.CHANGED, {".^"}),
        ("show", WordRole.CHANGED, {".^"}),
        ("show HEAD:src/a.py", WordRole.CHANGED, {"HEAD:src/a.py", "src/a.py^"}),
        ("stash show -- x", WordRole.CHANGED, {"x", ".^"}),
        ("cat-file -p -- 1234abcd", WordRole.CHANGED, {"1234abcd", ".^"}),
        ("cat-file -p -- HEAD:a", WordRole.CHANGED, {"HEAD:a", "a^"}),
        ("status -sb", WordRole.CHANGED, set()),
        ("status -v", WordRole.CHANGED, {".^"}),
        ("show --stat HEAD:src/a.py", WordRole.CHANGED, {"HEAD:src/a.py", "src/a.py^"}),
        ("show --stat 1234abcd", WordRole.CHANGED, {"1234abcd", ".^"}),
        ("show --stat HEAD", WordRole.CHANGED, set()),
        ("diff HEAD:src", WordRole.CHANGED, {"HEAD:src", ".^"}),
        ("show :/fix", WordRole.CHANGED, {"fix^", ".^"}),
        ("log --oneline", WordRole.CHANGED, set()),
        ("log -p", WordRole.CHANGED, {".^"}),
        ("log -p ./src", WordRole.CHANGED, {"./src"}),
        ("log -p --encoding -- HEAD", WordRole.CHANGED, {"HEAD", ".^"}),
        ("stash show", WordRole.CHANGED, {".^"}),
        ("grep x", WordRole.TRACKED, {"."}),
        ("grep x -- src", WordRole.TRACKED, {"src"}),
        ("grep x src", WordRole.TRACKED, {"src", "."}),
        ("grep x src/", WordRole.TRACKED, {"src/"}),
        ("-C sub grep x", WordRole.TRACKED, {"sub"}),
        ("grep --untracked x", WordRole.TREE, {"."}),
        ("grep --no-index x a", WordRole.TREE, {"a"}),
        ("grep --no-index /etc/*", WordRole.TREE, {"/etc/*"}),
        ("grep --no-index /etc/*", WordRole.READ, {"/etc/*"}),
        ("diff --no-index a b", WordRole.TREE, {"a", "b"}),
        ("diff a b", WordRole.TREE, {"a", "b"}),
        ("diff ../a ../b", WordRole.TREE, {"../a", "../b"}),
        ("diff -- a b", WordRole.TREE, {"a", "b"}),
        ("diff HEAD~2 b", WordRole.TREE, set()),
        ("diff main..topic/x b", WordRole.TREE, set()),
        ("log -- .env", WordRole.LIST, {".env"}),
        ("ls-files .env", WordRole.LIST, {".env"}),
        ("clone https://example.com/a.git there", WordRole.WRITE, {"there"}),
        ("clone a there", WordRole.WRITE, {"there"}),
        ("push ../elsewhere main", WordRole.WRITE, {"../elsewhere"}),
        ("mv a b", WordRole.WRITE, {"a", "b"}),
        ("checkout -- a", WordRole.WRITE, {"a"}),
        ("archive -o x.tar HEAD", WordRole.WRITE, {"x.tar"}),
        ("bundle create x HEAD", WordRole.WRITE, {"x"}),
        ("worktree add ../x", WordRole.WRITE, {"../x"}),
        ("clone -u 'touch x' a", WordRole.COMMAND, {"touch x"}),
        ("push --receive-pack='touch x' a", WordRole.COMMAND, {"touch x"}),
        ("rebase -x 'touch x' main", WordRole.COMMAND, {"touch x"}),
        ("bisect run touch x", WordRole.COMMAND, {"touch", "x"}),
        ("submodule foreach 'touch x'", WordRole.COMMAND, {"touch x"}),
        ("difftool -x 'touch x'", WordRole.COMMAND, {"touch x"}),
    ]
    assert [line for line, role, paths in table if used(line, role) != paths] == []


@pytest.mark.parametrize(
    ("line", "listing"),
    [
        ("ls-files", GitListing()),
        ("ls-files -m -- '*.py' src", GitListing(("*.py", "src"))),
        ("-C sub ls-files", GitListing(folder=Word("sub"))),
        ("diff --name-only", GitListing(top=True)),
        ("grep -l x", GitListing()),
        ("grep -il x -- src", GitListing(("src",))),
        ("grep -l -e x -- src/", GitListing(("src/",))),
        ("grep -l -e x src", None),
        ("ls-files -o", None),
        ("ls-files -s", None),
        ("ls-files *.py", None),
        ("diff --name-only HEAD~1", None),
        ("diff --name-status", None),
        ("diff --stat --name-only", None),
        ("grep x", None),
        ("grep -l x HEAD", None),
        ("grep -l --untracked x", None),
        ("grep -lO x", None),
        ("log --name-only", None),
    ],
)
def test_a_list_of_tracked_files_is_known_as_one(line: str, listing: GitListing | None) -> None:
    found = parsed(line)
    assert (found and listing_of(found)) == listing


@pytest.mark.parametrize(
    ("line", "looks"),
    [
        ("grep $(find .)", True),
        ("git grep --no-index $(find .)", True),
        ("grep -e $(find .)", False),
        ("head -n $(find .)", False),
        ("git -C sub diff --no-index a $(git ls-files)", False),
        ("git -C $(git ls-files) log", False),
    ],
)
def test_the_output_of_another_command_may_be_any_number_of_words(tmp_path: Path, line: str, *, looks: bool) -> None:
    needs = requirements_of(bash(line), Surroundings(str(tmp_path), "/home/ada"))
    assert [need.looks for need in needs if need.kind is RequirementKind.COMMAND and need.shown == line] == [looks]
    assert not looks or any(need.kind is RequirementKind.TREE and need.trees for need in needs), "its files are read"


# ── git is the witness ──────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Place:
    """A repository beside a file that is none of its business."""

    root: Path

    @property
    def repository(self) -> Path:
        return self.root / "repository"

    @property
    def secrets(self) -> dict[str, Path]:
        """What nobody sees but by a word that names its file."""
        return {
            "OUTSIDE-SECRET": self.root / "outside" / "secret.txt",
            "ENV-SECRET": self.repository / ".env",
            "KEY-SECRET": self.repository / "untracked.key",
        }

    def run(self, line: str, folder: str, environment: Mapping[str, str]) -> str:
        """What a line prints, in bash."""
        finished = subprocess.run(
            ("bash", "-c", line),
            cwd=self.repository / folder,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
            check=False,
        )
        return (finished.stdout + finished.stderr).decode(errors="replace")

    def state(self) -> dict[str, bytes]:
        """Every file but the index, which git may write in another way with the same meaning."""
        files = (path for path in self.root.rglob("*") if path.is_file() and path.name != "index")
        return {str(path): path.read_bytes() for path in files}


HOSTILE = names(
    "core.fsmonitor core.pager core.sshCommand core.askPass core.editor core.gitProxy core.alternateRefsCommand "
    "sequence.editor interactive.diffFilter gpg.program gpg.ssh.program gpg.x509.program credential.helper pager.log "
    "pager.diff pager.show pager.branch uploadpack.packObjectsHook alias.status alias.log tar.tar.command"
)
HOOKS = names("post-index-change reference-transaction post-checkout pre-auto-gc fsmonitor-watchman")


def plain_environment(home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {**kept, "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Every setting that the safe environment has to switch off names a program that leaves a file."""
    found = Place(tmp_path_factory.mktemp("git"))
    (found.root / "outside").mkdir()
    repository = found.repository
    (repository / "sub").mkdir(parents=True)
    for secret, path in found.secrets.items():
        path.write_text(f"{secret}=1\n")
    (repository / ".gitignore").write_text("*.key\n")
    (repository / "a.txt").write_text("one\ntwo\n")
    (repository / "sub" / "b.txt").write_text("three\n")
    (repository / "sub" / "c.patch").write_text("--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-one\n+1\n two\n")
    script = """
        git init -q -b main . && git config user.name a && git config user.email a@b.c
        git add . && git commit -qm 'first :colon' && git branch dev && git tag v1
        echo ENV-SECRET=2 >> .env; echo more >> a.txt; git commit -qam second; git stash list
        echo ENV-SECRET=3 >> .env; git stash -q; echo ENV-SECRET=4 >> .env; echo four >> a.txt; git add a.txt
        git remote add origin ../outside
    """
    found.run(script, ".", plain_environment(found.root))
    program = f"touch {found.root}/PWNED-"
    for key in HOSTILE:
        found.run(f"git config {key} {shlex.quote(program + key)}", ".", plain_environment(found.root))
    found.run("git config log.showSignature true", ".", plain_environment(found.root))
    for hook in HOOKS:
        path = repository / ".git" / "hooks" / hook
        path.write_text(f"#!/bin/sh\n{program}{hook}\n")
        path.chmod(0o755)
    for left in found.root.glob("PWNED*"):
        left.unlink()
    return found


def leaves(program: Program, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Program]]:
    """Every subcommand, with its words."""
    if not program.subcommands or program.bare:
        yield words, program
    for name, inner in program.subcommands.items():
        yield from leaves(inner, (*words, name))


def options(*texts: str) -> list[str]:
    return [
        option
        for text in texts
        for part in text.split()
        for option in ([part] if part.startswith("-") else [f"-{letter}" for letter in part])
    ]


LEAVES = [(words, program) for words, program in leaves(PROGRAMS["git"]) if program.looks and words]
VALUES = shlex.split("3 HEAD .env ../outside/secret.txt 1,2:.env :0:.env %h main a.txt sub -- -p")
OPERANDS = re.findall(
    r"\S+",
    """
    HEAD HEAD~1 main dev v1 main..dev '^HEAD' 'HEAD@{0}' stash@{0} 'HEAD^{/first}' :/first --all -5 -- --
    HEAD:.env HEAD:./.env HEAD:sub HEAD: :0:.env :.env ':(top).env' ':!a.txt' :/.env
    .env ./.env ../.env sub ../sub . .. a.txt 'a.txt' '*.txt' '.en?' '*' * sub/c.patch untracked.key ../untracked.key
    ../outside ../outside/secret.txt ../../outside/secret.txt /dev/null one ENV OUTSIDE user.name origin
    """,
)


def line_from(random: Random) -> str:
    """Words that may be a line of our grammar."""
    words, program = random.choice(LEAVES)
    before = random.choice([""] * 6 + ["--no-pager ", "-C . ", "-C sub ", "-C .. ", "-c color.ui=always "])
    line = [f"git {before}{' '.join(words)}"]
    flags, valued = options(program.flags, program.maybe), options(program.texts, program.reads)
    for _ in range(random.choice([0, 0, 1, 1, 2, 3])):
        if flags:
            line.append(random.choice(flags) + random.choice(["", "", "", "", "=3", "3", "=.env"]))
    if valued and random.random() < 0.5:
        option = random.choice(valued)
        glue = random.choice([" ", " ", "=" if option.startswith("--") else ""])
        line.append(f"{option}{glue}{random.choice(VALUES)}")
    line += random.sample(OPERANDS, random.choice([0, 1, 1, 2, 3]))
    return " ".join(line)


def accounted(place: Place, found: ParsedCommand, folder: str, path: Path) -> bool:
    """One of the uses is about the content of this file."""
    for use in found.uses:
        if use.role not in (WordRole.READ, WordRole.TREE, WordRole.FOLLOWED, WordRole.TRACKED, WordRole.CHANGED):
            continue
        bases = [place.repository / folder] + ([place.repository] if use.top else [])
        for base in bases:
            named = str(base / use.word.text)
            fitting = iglob(named) if use.word.kind is WordKind.GLOB else ()  # noqa: PTH207  as in a shell
            for real in map(os.path.realpath, [named, *fitting]):
                if real == str(path) or (use.role is not WordRole.READ and path.is_relative_to(real)):
                    return True
    return False


def check(place: Place, seed: int) -> bool:
    """Run one line, if it is one that only looks. Whether it was run."""
    random = Random(seed)
    line, folder = line_from(random), random.choice([".", ".", "sub"])
    try:
        [simple] = read_line(line)
    except Unreadable:
        return False
    found = parse(PROGRAMS["git"], simple.words[1:])
    if found is None or not found.looks:
        return False
    plain = plain_environment(place.root)
    before = place.state()
    printed = place.run(line, folder, {**plain, **safe_environment(plain)})
    assert place.state() == before, (line, folder)
    for secret, path in place.secrets.items():
        assert secret not in printed or accounted(place, found, folder, path), (line, folder, printed)
    return True


@given(st.integers(0, 2**48))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_looks_runs_nothing_writes_nothing_and_shows_only_what_its_roles_name(place: Place, seed: int) -> None:
    for number in range(4):
        check(place, seed + number)


@pytest.mark.parametrize(("words", "program"), LEAVES, ids=[" ".join(words) for words, _ in LEAVES])
def test_a_word_that_counts_as_the_value_of_an_option_is_one_to_git(
    place: Place, words: tuple[str, ...], program: Program
) -> None:
    plain = plain_environment(place.root)
    environment = {**plain, **safe_environment(plain)}
    for option in options(program.texts, program.reads):
        printed = place.run(f"git {' '.join(words)} {option} 7zzz", ".", environment)
        assert not any(text in printed for text in ("argument '7zzz'", "path '7zzz'", "spec '7zzz'")), printed
