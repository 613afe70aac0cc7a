"""Random lines, read by the reader of command lines and run by real shells: every program that runs was foreseen.

    python -m benchmarks.shell_fuzz --lines 1000000 [--seed N] [--seconds S]

Lines are put together from pieces of shell grammar. Those that the reader takes, and of which it knows every program,
are executed in an empty folder in which all programs only note their words. A note that fits none of the commands that
the reader found is wrong. Lines for any shell are run by dash and by bash as sh. Prints how many lines were made, run
and wrong; exits with 1 if one was wrong.
"""

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from harness.permissions.shell import Unreadable, Word, WordKind
from harness.permissions.shell.resolution import ResolvedCommand, resolved_commands
from harness.permissions.shell.syntax import BASH, PORTABLE, Dialect

BATCH = 500
LONGEST_BATCH = 120.0
"""Seconds."""
NOTERS = ("good", "bad", "ad", "b", "x", "a")
"""Programs that note their words."""
REAL = ("env", "xargs", "nice", "timeout", "nohup", "setsid", "stdbuf")
SHELLS = ("sh", "bash", "dash")
BUILT_IN = (*["true", "false", ":", "[", "[[", "test", "echo"], *["printf", "command", "eval", "trap", "exec", "set"])
NOTE = """#!/bin/sh
said=
for one do said="$said$one\x1f"; done
printf '%s\037%s\036' "${0##*/}" "$said" >> .noted
"""
DRIVER = """
ulimit -t 2
while IFS= read -rd '' folder && IFS= read -rd '' shell && IFS= read -rd '' line; do
    cd "$folder" && timeout --foreground -s KILL 3 "$shell" -c "$line" </dev/null >/dev/null 2>&1
done
"""

SOUP = [
    *(
        "good",
        "bad",
        "ad",
        "b",
        "x",
        "a",
        " ",
        " ",
        " ",
        " ",
        "'",
        '"',
        "\\",
        "$(",
        ")",
        "`",
        ";",
        "&",
        "&&",
        "||",
        "|",
    ),
    *("\n", "(", "{", "}", ",", "#", "<<E\n", "E\n", "<", ">", ">>", "<(", ">(", "$'", "\\x62", "$x", "${x}", "x=bad"),
    *("x=", "$", "!", "if ", "then ", "else ", "fi"),
    *("do ", "done", "for x in ", "for a in ", "in ", "while ", "eval "),
    *("sh -c ", "bash -c ", "dash -c ", "env ", "xargs ", "exec "),
    *("command ", "time ", "echo ", "f() ", "[", "]", "*"),
    *(
        "?",
        "~",
        "=",
        "-",
        "2>&1",
        "&>",
        "|&",
        ">&",
        "$((1))",
        "case ",
        "esac",
        "trap ",
        "set -- ",
        "[[ ",
        " ]]",
        " == ",
    ),
    *(
        "=~ ",
        " -f ",
        "<<<",
        "..",
        "1",
        "10",
        "{a,b}",
        "{x,good}",
        "{1..3}",
        "..",
        ";;",
        " in ",
        "${x:-a}",
        "${#x}",
        "$$",
    ),
    *(
        '$"',
        "\t",
        "\\\n",
        "@",
        "%",
        "^",
        "[^a]",
        "-p ",
        "--",
        " -- ",
        "{x}>",
        "+=",
        "$[",
        "-c ",
        "-e ",
        "env - ",
        "A=1 ",
    ),
]
WORDS = [
    *(
        "a",
        "b",
        "x",
        "good",
        "bad",
        "'a b'",
        '"a b"',
        "a\\ b",
        "$x",
        '"$x"',
        "${x}",
        '"a$x"',
        "$a",
        '"$a"',
        "$(good)",
        "`good x`",
    ),
    *("{a,b}", "{a,{b,x}}", "a{,b}", "{1..3}", "x{a,b}y{1,2}", "*", "a*"),
    *("[ab]", "'*'", "~", "~/a", "''", '""', "a=b"),
    *(
        "{}",
        "{a}",
        "$'a\\x62'",
        '$"a"',
        "-n",
        "--",
        "-",
        "#",
        "a#b",
        "!",
        "if",
        "done",
        "}",
        "{",
        "]]",
        "[[",
        "=",
        "1",
        "x=bad",
    ),
    *(
        '"$(good a)"',
        "<(good)",
        "$((1+2))",
        "{a,$x}",
        "{a,'b,c'}",
        "\\{a,b}",
        "{a,b",
        "a,b}",
        "$?",
        "${x:-b}",
        "'$x'",
        "${x%a}",
        "${x##*b}",
        "${x/a/b}",
        "${x:0:1}",
        "good*",
    ),
    *(
        "{,a}",
        "{a..c}",
        "{a}{b,x}",
        "{,}",
        "a{b,c}*",
        "~{a,b}",
        '"{a,b}"',
        "{a,b}=c",
        "x={a,b}",
        "{-,}a",
        "%",
        "^",
        "@",
    ),
]


def soup(chance: random.Random) -> str:
    """Pieces in any order."""
    return "".join(chance.choices(SOUP, k=chance.randint(1, 12)))


def line(chance: random.Random, depth: int = 0) -> str:
    """A line by the grammar, with now and then a piece of soup in it."""
    made = command(chance, depth)
    while chance.random() < 0.3:
        made += chance.choice(["; ", " && ", " || ", " | ", "\n", " & ", " |& ", ";"]) + command(chance, depth)
    if chance.random() < 0.1:
        place = chance.randint(0, len(made))
        made = made[:place] + chance.choice(SOUP) + made[place:]
    return made


def command(chance: random.Random, depth: int) -> str:
    """One command, simple or not."""
    if depth > 2 or chance.random() < 0.5:
        return simple(chance)
    inner, other = line(chance, depth + 1), line(chance, depth + 1)
    name = chance.choice("xa")
    listed = " ".join(chance.choices(WORDS, k=chance.randint(1, 3)))
    word = chance.choice(WORDS)
    shell = chance.choice(
        ["sh -c", "bash -c", "dash -c", "sh -ec", "bash -o pipefail -c", "eval", "env sh -c", "eval --"]
    )
    wrapper = chance.choice(["env", "env -", "nice -n 1", "timeout 5", "command", "exec", "xargs", "time", "!"])
    return chance.choice(
        [
            f"for {name} in {listed}; do {inner}; done",
            f"for {name} in {listed}; do {inner}; done",
            f'for {name} in {listed}; do good ${name} "${name}" a${{{name}}}; done',
            f"if {inner}; then {other}; fi",
            f"( {inner} )",
            f"{{ {inner}; }}",
            f"case {word} in {chance.choice(WORDS)}) {inner};; {chance.choice(WORDS)}|x) {other};; esac",
            f"[[ {test(chance)} ]] && {inner}",
            f"[[ {test(chance)} {chance.choice(['&&', '||'])} {test(chance)} ]] || {inner}",
            f"good $({inner})",
            f'good "$({inner})" <(good)',
            f"good `{inner}`",
            f"{shell} {quoted(chance, inner)}",
            f"{shell} {quoted(chance, inner)} a b",
            f"{wrapper} {inner}",
            f"good <<E\n{chance.choice(WORDS)} $({inner})\nE\n",
            f"good <<'E'\n{inner}\nE\n",
            f"{inner} {chance.choice(['>x', '2>&1', '&>a', '<<<b', '>>b', '2>/dev/null', '{x}>a', '>&x', '10>a'])}",
            f"while false; do {inner}; done",
            f"trap {quoted(chance, inner)} EXIT",
        ]
    )


def simple(chance: random.Random) -> str:
    """A program and some words."""
    before = chance.choice(
        ["", "", "", "", "", "A=1 ", "x=b ", "env A=1 ", "env - ", "nice ", "time ", "! ", "command "]
    )
    program = chance.choice(
        ["good", "good", "good", "bad", "echo", "x", "{good,a}", "g'oo'd", "go\\od", "true", "[ -n"]
    )
    words = "".join(f" {one}" for one in chance.choices(WORDS, k=chance.randint(0, 3)))
    return f"{before}{program}{words}{' ]' if program.startswith('[') else ''}"


def test(chance: random.Random) -> str:
    """The text between [[ and ]]."""
    one, other = chance.choices(WORDS, k=2)
    return chance.choice(
        [
            *(f"-f {one}", f"-n {one}", f"! -z {one}", f"{one} == {other}", f"{one} =~ {other}", f"{one} < {other}"),
            *(f"( {one} = {other} )", f"{one} -eq {other}", f"-v {one}", f"{one} -nt {other}", f"{one} =~ a|b", one),
        ]
    )


def quoted(chance: random.Random, text: str) -> str:
    """A text as one word, or nearly so."""
    return chance.choice(["'" + text.replace("'", "'\\''") + "'", "'" + text + "'", f'"{text}"', f"$'{text}'"])


@dataclass(frozen=True, slots=True)
class Case:
    """A line to run, and the prediction."""

    line: str
    shell: str
    programs: str
    """The folder of programs: which shell is sh there."""
    runs: tuple[ResolvedCommand, ...]

    def wrong(self, noted: str) -> list[str]:
        """The notes that no command fits."""
        forms = [form(run.simple.words) for run in self.runs if run.simple.words]
        notes = noted.split("\036")[:-1]
        return [note for note in notes if not any(re.fullmatch(one, note, re.DOTALL) for one in forms)]


def form(words: Sequence[Word]) -> str:
    """The possible arguments of a program for these words."""
    return "".join(
        "[^\037]*\037"
        if word.home or word.kind is WordKind.PIPE
        else re.escape(word.text) + "\037"
        if word.kind is WordKind.LITERAL
        else "(?:[^\037]*\037)*"
        for word in words
    )


def case_of(text: str, dialect: Dialect) -> tuple[ResolvedCommand, ...] | None:
    """The commands of a line, if it may be run: all of them known, and none that could do anything but note."""
    try:
        runs = resolved_commands(text, dialect)
    except Unreadable:
        return None
    for run in runs:
        program = run.simple.program
        if run.opaque or (run.simple.words and program is None):
            return None
        if program is None or program in NOTERS or program in REAL or program in BUILT_IN:
            continue
        if not (program in SHELLS and run.understood):
            return None
    return runs if any(run.simple.program in NOTERS for run in runs) else None


def cases(text: str, folder: Path) -> Iterator[Case]:
    """How a line is run."""
    runs = case_of(text, BASH)
    if runs is not None:
        yield Case(text, "bash", str(folder / "dash"), runs)
        if "sh" in text:
            yield Case(text, "bash", str(folder / "bash"), runs)
    runs = case_of(text, PORTABLE)
    if runs is not None:
        yield Case(text, "dash", str(folder / "dash"), runs)
        yield Case(text, "sh", str(folder / "bash"), runs)


def prepared(folder: Path) -> None:
    """Two folders of programs: sh is dash in one and bash in the other."""
    for name in ("dash", "bash"):
        programs = folder / name
        programs.mkdir()
        for noter in NOTERS:
            (programs / noter).write_text(NOTE)
            (programs / noter).chmod(0o700)
        for real in (*REAL, "bash", "dash", "printf"):
            (programs / real).symlink_to(shutil.which(real) or "/bin/false")
        (programs / "sh").symlink_to(shutil.which(name) or "/bin/false")


def executed(batch: Sequence[Case], folder: Path) -> tuple[int, list[str]]:
    """Run a batch; the number of programs that ran, and the errors."""
    found = []
    notes = 0
    for programs in sorted({case.programs for case in batch}):
        some = [case for case in batch if case.programs == programs]
        with tempfile.TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as made:
            lines = b""
            for number, case in enumerate(some):
                place = Path(made, str(number))
                place.mkdir()
                shell = f"{programs}/{case.shell}"
                lines += b"".join(os.fsencode(part) + b"\0" for part in (str(place), shell, case.line))
            driver = subprocess.Popen(
                [f"{programs}/bash", "-c", DRIVER],
                stdin=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={"PATH": programs, "HOME": made, "LC_ALL": "C.UTF-8"},
                cwd=made,
                start_new_session=True,
            )
            with suppress(subprocess.TimeoutExpired):
                driver.communicate(lines, timeout=LONGEST_BATCH)
            time.sleep(0.2)  # for programs that a line has left running
            with suppress(ProcessLookupError):
                os.killpg(driver.pid, 9)
            driver.communicate()
            for number, case in enumerate(some):
                log = Path(made, str(number), ".noted")
                noted = log.read_text(errors="replace") if log.exists() else ""
                notes += noted.count("\036")
                if wrong := case.wrong(noted):
                    found.append(f"{case.shell} in {Path(programs).name}: {case.line!r} ran {wrong}")
    return notes, found


def main() -> int:
    """Generate lines, read them, run them, and report errors."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--lines", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)
    begin = time.monotonic()
    made = ran = wrong = notes = 0
    batch: list[Case] = []
    before: set[int] = set()  # a case that was run once says nothing new
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        prepared(folder)
        while True:
            ended = made >= arguments.lines or time.monotonic() - begin > arguments.seconds
            if len(batch) >= BATCH or ended:
                noted, found = executed(batch, folder)
                notes += noted
                for one in found:
                    wrong += 1
                    print("wrong:", one, flush=True)
                ran += len(batch)
                batch = []
            if ended:
                break
            made += 1
            for case in cases(soup(chance) if chance.random() < 0.4 else line(chance), folder):
                if (known := hash((case.line, case.shell, case.programs))) not in before:
                    before.add(known)
                    batch.append(case)
    print(f"lines {made:,}  executed {ran:,}  programs {notes:,}  wrong {wrong}  {time.monotonic() - begin:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
