"""A folder in which a command that does more than look, or looks elsewhere, leaves a trace; and lines to try there.

`HARNESS_TEST_LINES=100000 pytest tests/permissions/programs` tries more of them.
"""

import hashlib
import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from harness.permissions.name_sets import names
from harness.permissions.programs import PROGRAMS, ParsedCommand, Program, WordRole, parse
from harness.permissions.shell.parser import read_line
from harness.permissions.shell.syntax import Unreadable, Word, WordKind

LINES = int(os.environ.get("HARNESS_TEST_LINES", "300"))
"""Lines that each test generates."""
SEED = int(os.environ.get("HARNESS_TEST_SEED", "7"))
SECRET = "the-content-of-a-file-outside"
_BATCH = 100
_SECONDS = 20

NAMES = [
    *("a.txt", "b.txt", "docs", "docs/c.md", "data.json", ".", "./a.txt", "new", "docs/new"),
    *("link", "docs/link", "linked", "linked/secret", "../outside/secret", ".env", "docs/.env", "@.env", "docs/@link"),
    *("-o", "--output", "-", "--", "+5f", "+2", "x=y", "*", "*.txt", "d*", "[l]ink", "?", "-*", "do?s", "docs/*"),
    *('"$UNSET"', "~/key", "''", "1", "/dev/null"),
]
"""Words as a shell reads them: files, links to elsewhere, patterns, and names that look like options."""
VALUES = [
    *("1", "2", "5", "-1", "+2", "1,2", "a", ":", "x", "%s", "new", "../outside/secret", "link", "*", "a*", "-o", "--"),
]


class Canary:
    """The folder, what is outside it, and programs that report that they were run."""

    def __init__(self, root: Path, *, seconds: int = _SECONDS) -> None:
        self._seconds = seconds
        self.root = root
        self.folder = root / "folder"
        self.log = root / "log"
        spies = str(root / "spies")
        self._environment = {
            "PATH": spies,
            "HOME": str(root / "home"),
            "TMPDIR": str(root / "tmp"),
            "LC_ALL": "C.UTF-8",
            "PAGER": f"{spies}/less",
            "SHELL": f"{spies}/sh",
        }
        self._make()
        self._before = self._digest()

    def _make(self) -> None:
        root = self.root
        outside, home, spies = root / "outside", root / "home", root / "spies"
        for path in (self.folder / "docs", outside, home, spies, root / "tmp"):
            path.mkdir(parents=True)
        for secret in (outside / "secret", home / "key", self.folder / ".env", self.folder / "docs" / ".env"):
            secret.write_text(f"{SECRET}\n{SECRET} x\n")
        (self.folder / "a.txt").write_text("1 alpha\n2 beta x\n2 beta x\n")
        (self.folder / "b.txt").write_text("a.txt\nlink\n.env\n../outside/secret\n")
        (self.folder / "docs" / "c.md").write_text("# Title\n\nsome text a:b\n")
        (self.folder / "data.json").write_text('{"name": "x", "list": [1, 2, {"env": "y"}]}\n')
        (self.folder / "link").symlink_to(outside / "secret")
        (self.folder / "docs" / "link").symlink_to(outside / "secret")
        (self.folder / "linked").symlink_to(outside)
        for name in ("-o", "--output=new", "-n", "-r", "@.env", "w", "x"):
            (self.folder / name).write_text("1 trap\n")
        for name in names("sh bash dash less more pager pr cat ls sort gzip diff cmp comm rm tee touch ed git sleep"):
            spy = spies / name
            spy.write_text(f'#!/bin/bash\necho "$0 $@" >> {self.log}\n')
            spy.chmod(0o755)

    def run(self, lines: Sequence[str]) -> str:
        """Run the lines with bash, each for some seconds at most; their output."""
        script = "".join(f'/usr/bin/timeout {self._seconds} {line} </dev/null; echo "status=$?"\n' for line in lines)
        done = subprocess.run(
            ["/bin/bash", "-c", script], cwd=self.folder, env=self._environment, capture_output=True, check=False
        )
        return (done.stdout + done.stderr).decode(errors="replace")

    def trespasses(self, lines: Sequence[str]) -> list[str]:
        """The lines that did more than look at the folder, each with what it did."""
        found = []
        for begin in range(0, len(lines), _BATCH):
            batch = lines[begin : begin + _BATCH]
            if self._wrong(self.run(batch)):
                found += [f"{line}: {wrong}" for line in batch if (wrong := self._wrong(self.run([line])))]
        return found

    def _wrong(self, output: str) -> str:
        """What happened that should not; the folder is as before after it."""
        wrong = []
        if SECRET in output:
            wrong.append("it printed what is outside")
        if self.log.exists():
            wrong.append(f"it ran {self.log.read_text()}")
            self.log.unlink()
        if "status=124\n" in output:
            wrong.append("it did not end")
        if self._digest() != self._before:
            wrong.append("it changed a file")
            shutil.rmtree(self.root)
            self._make()
        return ", ".join(wrong)

    def _digest(self) -> str:
        digest = hashlib.sha256()
        for path in sorted(self.root.rglob("*")):
            digest.update(f"{path} {path.lstat().st_mode}".encode())
            if path.is_file() and not path.is_symlink():
                digest.update(path.read_bytes())
        return digest.hexdigest()

    def may_run(self, parsed: ParsedCommand) -> bool:
        """What the rules make of the roles of the words: only the folder, nothing secret, nothing that never ends."""
        if not parsed.looks or not parsed.ends or any(self._begins_with_dash(word) for word in parsed.turning):
            return False
        return all(self._may_be_read(use.role, path) for use in parsed.uses for path in self._paths(use.word, use.role))

    def _begins_with_dash(self, word: Word) -> bool:
        return any(match.name.startswith("-") for match in self._matches(word))

    def _matches(self, word: Word) -> Iterator[Path]:
        return self.folder.glob(word.text)

    def _paths(self, word: Word, role: WordRole) -> Iterator[Path]:
        if role is WordRole.TEXT or word.kind is WordKind.PIPE or not word.text:
            return
        if word.kind is WordKind.GLOB:
            yield from self._matches(word)
        yield self.root / "home" / word.text[2:] if word.home else self.folder / word.text

    def _may_be_read(self, role: WordRole, path: Path) -> bool:
        real = path.resolve()
        if path == Path("/dev/null"):
            return True
        if not real.is_relative_to(self.folder) or (role is not WordRole.LIST and real.name in (".env", "@.env")):
            return False
        if role in (WordRole.TREE, WordRole.FOLLOWED) and real.is_dir():
            inside = list(real.rglob("*"))
            links = role is WordRole.FOLLOWED and any(one.is_symlink() for one in inside)
            return not links and not any(one.name == ".env" for one in inside)
        return True


def parsed_line(line: str) -> ParsedCommand | None:
    """A line of one simple command, parsed by the table of its program."""
    try:
        (simple,) = read_line(line)
    except (Unreadable, ValueError):
        return None
    assert simple.program is not None
    return parse(PROGRAMS[simple.program.rpartition("/")[2]], simple.words[1:])


def random_words(program: Program, random: Random) -> list[str]:
    """Options of the table and others, with and without values, and operands, as a shell reads them."""
    words = []
    for _ in range(random.choice((0, 1, 1, 2, 3))):
        words.append(_random_option(program, random))
        if random.random() < 0.5:
            words.append(random.choice(VALUES))
    words += random.choices(NAMES, k=random.choice((0, 1, 1, 2, 3)))
    if random.random() < 0.15:
        random.shuffle(words)
    return words


def _random_option(program: Program, random: Random) -> str:
    harmless = [program.flags, program.texts, program.maybe, program.tree, program.follow, program.reads, program.lists]
    harmful = [program.writes, program.acts, program.executes, program.commands, "oTCxXzLfi -ps --output --files0-from"]
    parts = " ".join(random.choice((harmless, harmless, harmless, harmful))).split()
    part = random.choice(parts) if parts else "v"
    value = random.choice(VALUES)
    if part.startswith("-"):
        return random.choice((part, part, f"{part}={value}", part[: random.randint(3, len(part))]))
    letters = "".join(random.choices(part, k=random.choice((1, 1, 2, 3))))
    return f"-{letters}{random.choice(('', '', value))}"


def installed(program: str) -> str | None:
    """Where it is, unless it is a script that runs another program."""
    path = shutil.which(program, path="/usr/bin:/bin:/usr/local/bin")
    if path is None:
        return None
    with Path(path).open("rb") as file:
        return None if file.read(2) == b"#!" else shlex.quote(path)
