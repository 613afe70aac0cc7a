"""The grammar of git, checked against git itself."""

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
from harness.permissions.programs.git import global_options
from harness.permissions.shell.parser import read_line
from harness.permissions.shell.syntax import Unreadable, WordKind
from harness.processes.git_safety import safe_environment
from tests.cases import cases, grouped, lines, members, rows
from tests.whole import examples


def parsed(line: str) -> ParsedCommand | None:
    [simple] = read_line(f"git {line}")
    return parse(PROGRAMS["git"], simple.words[1:])


def looks(line: str) -> bool:
    found = parsed(line)
    return found is not None and found.ends


def used(line: str, *roles: WordRole) -> set[str]:
    """The words of a line in these roles; a ^ behind one that may count from the top of the repository."""
    found = parsed(line)
    assert found is not None, line
    return {use.word.text + "^" * use.top for use in found.uses if use.role in roles}


# ── what looks, and what does not ───────────────────────────────────────────────────────────────


def test_a_plain_look_is_in_the_grammar() -> None:
    assert [line for line in lines(__file__, "looks") if not looks(line)] == []


def test_whatever_else_git_can_do_is_asked_about() -> None:
    assert [line for line in lines(__file__, "does more") if looks(line)] == []


def test_a_file_pattern_that_may_become_an_option_is_named() -> None:
    found = parsed("log ?x")
    assert found is not None
    assert [word.text for word in found.turning] == ["?x"]


# ── what its words are ──────────────────────────────────────────────────────────────────────────


READ = grouped(__file__, "read")
"""The path that may be read, and lines that may read it; a ^: from the top of the repository."""


@pytest.mark.parametrize("path", READ)
def test_every_part_of_a_word_that_may_be_a_path_is_read(path: str) -> None:
    assert [line for line in READ[path] if path not in used(line, WordRole.READ)] == []


@pytest.mark.parametrize("line", ["x://y diff", "push ../elsewhere main"])
def test_an_address_is_no_path(line: str) -> None:
    assert parsed(line) is None or not used(line, WordRole.READ)


def test_the_words_of_a_command_have_their_roles() -> None:
    table = rows(__file__, "roles", str, WordRole, members)
    assert [line for line, role, paths in table if used(line, role) != paths] == []


@cases(__file__, "global options", "line subcommand")
def test_the_subcommand_follows_the_global_options(line: str, subcommand: str) -> None:
    [simple] = read_line(f"git {line}")
    [word] = global_options(simple.words[1:]).rest
    assert word.text == subcommand


# ── git is the witness ──────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Repository:
    """A repository beside a file that is none of its business."""

    root: Path

    @property
    def repository(self) -> Path:
        return self.root / "repository"

    @property
    def secrets(self) -> dict[str, Path]:
        """Contents that only a word that names the file may show."""
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
def repo(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """Every setting that the safe environment has to switch off names a program that leaves a file."""
    found = Repository(tmp_path_factory.mktemp("git"))
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


LEAVES = [(words, program) for words, program in leaves(PROGRAMS["git"]) if words]
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


def accounted(repo: Repository, found: ParsedCommand, folder: str, path: Path) -> bool:
    """One of the uses is about the content of this file."""
    for use in found.uses:
        if use.role not in (WordRole.READ, WordRole.TREE, WordRole.FOLLOWED, WordRole.TRACKED, WordRole.CHANGED):
            continue
        bases = [repo.repository / folder] + ([repo.repository] if use.top else [])
        for base in bases:
            named = str(base / use.word.text)
            fitting = iglob(named) if use.word.kind is WordKind.GLOB else ()  # noqa: PTH207  as in a shell
            for real in map(os.path.realpath, [named, *fitting]):
                if real == str(path) or (use.role is not WordRole.READ and path.is_relative_to(real)):
                    return True
    return False


def check(repo: Repository, seed: int) -> bool:
    """Run a line if it is read-only; return whether it ran."""
    random = Random(seed)
    line, folder = line_from(random), random.choice([".", ".", "sub"])
    try:
        [simple] = read_line(line)
    except Unreadable:
        return False
    found = parse(PROGRAMS["git"], simple.words[1:])
    if found is None:
        return False
    plain = plain_environment(repo.root)
    before = repo.state()
    printed = repo.run(line, folder, {**plain, **safe_environment(plain)})
    assert repo.state() == before, (line, folder)
    for secret, path in repo.secrets.items():
        assert secret not in printed or accounted(repo, found, folder, path), (line, folder, printed)
    return True


@given(st.integers(0, 2**48))
@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_looks_runs_nothing_writes_nothing_and_shows_only_what_its_roles_name(repo: Repository, seed: int) -> None:
    for number in range(4):
        check(repo, seed + number)


@pytest.mark.parametrize(("words", "program"), LEAVES, ids=[" ".join(words) for words, _ in LEAVES])
def test_a_word_that_counts_as_the_value_of_an_option_is_one_to_git(
    repo: Repository, words: tuple[str, ...], program: Program
) -> None:
    plain = plain_environment(repo.root)
    environment = {**plain, **safe_environment(plain)}
    for option in options(program.texts, program.reads):
        printed = repo.run(f"git {' '.join(words)} {option} 7zzz", ".", environment)
        assert not any(text in printed for text in ("argument '7zzz'", "path '7zzz'", "spec '7zzz'")), printed
