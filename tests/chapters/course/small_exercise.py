"""A small exercise in a folder of its own, for tests of the check program."""

from pathlib import Path

from chapters.course.checks.exercises import Exercise, load_exercise

TOML = """
file = "adding.py"
program = "harness/policies/recovery/backoff.py:delay_s"
title = { en = "Add two numbers", ja = "二つの数を足す" }
task = { en = "Write `add`.", ja = "`add` を書いてください。" }

[[hints]]
en = "There is a sign for it."
ja = "記号があります。"

[[hints]]
en = "The sign is a cross."
ja = "十字の記号です。"

[[checks]]
name = "check_small"
wants = { en = "One and two are three.", ja = "一と二で三。" }
wrong = { en = "It does not add.", ja = "足していません。" }

[[checks]]
name = "check_later"
wants = { en = "It can be awaited.", ja = "待つこともできる。" }
wrong = { en = "It does not add either.", ja = "こちらも足していません。" }
"""
GIVEN = "def add(a, b):\n    return a\n\n\nasync def add_later(a, b):\n    return add(a, b)\n"
DONE = GIVEN.replace("return a\n", "return a + b\n")
CHECK = """
def check_small(work):
    got = work.add(1, 2)
    assert got == 3, f"add(1, 2) -> {got!r}"


async def check_later(work):
    got = await work.add_later(20, 3)
    assert got == 23, f"add_later(20, 3) -> {got!r}"
"""


def small_exercise(folder: Path, *, toml: str = TOML, check: str = CHECK, chapter: str = "s07_sums") -> Exercise:
    """Write the exercise s07-adding below a folder, and load it."""
    home = folder / chapter / "exercises" / "adding"
    home.mkdir(parents=True)
    (home / "exercise.toml").write_text(toml, encoding="utf-8")
    (home / "adding.py").write_text(GIVEN)
    (home / "check.py").write_text(check)
    return load_exercise(home)
