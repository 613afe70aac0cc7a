"""Learner's code may do anything: real child processes, and a sentence for each way to go wrong."""

import os
import sys
from pathlib import Path

import psutil
import pytest

from chapters.course.checks.checker import (
    PRINTED_BYTES,
    Checked,
    CheckFailure,
    CheckLimits,
    Trouble,
    environment,
    run_checks,
)
from tests.chapters.course.small_exercise import CHECK, DONE, GIVEN, small_exercise

pytestmark = pytest.mark.anyio

SHORT = CheckLimits(check_s=0.5, wait_s=20, all_s=40)
BRIEF = CheckLimits(check_s=30, wait_s=1, all_s=40)
LATER = "\n\nasync def add_later(a, b):\n    return add(a, b)\n"


async def checked(folder: Path, code: str | bytes, limits: CheckLimits | None = None) -> Checked:
    file = folder / "adding.py"
    file.write_bytes(code if isinstance(code, bytes) else code.encode())
    return await run_checks(small_exercise(folder), file, limits or CheckLimits(check_s=30, all_s=60))


def failures(checked: Checked) -> list[CheckFailure | None]:
    return [result.failure for result in checked.results]


NOT_RUN = CheckFailure(Trouble.NOT_RUN)


async def test_code_that_is_right_passes_and_leaves_nothing_in_the_folder(tmp_path: Path) -> None:
    told = await checked(tmp_path, DONE)
    assert told.passed
    assert (told.loading, failures(told), told.printed, told.left) == (None, [None, None], "", 0)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["adding.py", "s07_sums"]


async def test_a_wrong_result_is_reported_by_the_case(tmp_path: Path) -> None:
    told = await checked(tmp_path, GIVEN)
    assert not told.passed
    assert failures(told) == [
        CheckFailure(Trouble.ASSERTION, None, "add(1, 2) -> 1"),
        CheckFailure(Trouble.ASSERTION, None, "add_later(20, 3) -> 20"),
    ]


@pytest.mark.parametrize(
    ("body", "failure"),
    [
        ("    return a / 0", CheckFailure(Trouble.RAISED, 2, "ZeroDivisionError: division by zero")),
        ("    assert a > 99, 'mine'", CheckFailure(Trouble.RAISED, 2, "AssertionError: mine")),
        ("    raise KeyboardInterrupt", CheckFailure(Trouble.RAISED, 2, "KeyboardInterrupt")),
        ("    import nothing_like_it", CheckFailure(Trouble.IMPORT, 2, "No module named 'nothing_like_it'")),
        ("    import sys\n    sys.exit(0)", CheckFailure(Trouble.EXIT, 3)),
        ("    return input('b? ')", CheckFailure(Trouble.INPUT, 2)),
        ("    return add(a, b)", CheckFailure(Trouble.RECURSION, 2)),
        ("    return len(bytearray(1 << 42))", CheckFailure(Trouble.MEMORY, 2)),
        ("    raise TimeoutError('slow')", CheckFailure(Trouble.RAISED, 2, "TimeoutError: slow")),
    ],
)
async def test_what_it_raises_is_reported_with_the_line_and_the_next_check_runs(
    tmp_path: Path, body: str, failure: CheckFailure
) -> None:
    told = await checked(tmp_path, f"def add(a, b):\n{body}\n{LATER}")
    assert failures(told) == [failure, failure]


async def test_a_function_that_takes_something_else_or_is_gone_is_reported(tmp_path: Path) -> None:
    told = await checked(tmp_path, "def add(a):\n    return a\n")
    first, second = failures(told)
    assert first == CheckFailure(Trouble.UNFIT, None, "TypeError: add() takes 1 positional argument but 2 were given")
    assert second == CheckFailure(Trouble.MISSING, None, "add_later")


@pytest.mark.parametrize(
    ("code", "failure"),
    [
        ("def add(a, b)\n    return a", CheckFailure(Trouble.SYNTAX, 1, "expected ':'")),
        ("def add(a, b):\n\treturn a\n        return b", CheckFailure(Trouble.SYNTAX, 3, "")),
        ("import os\nfrom os import paths", CheckFailure(Trouble.IMPORT, 2, "")),
        ("1 / 0", CheckFailure(Trouble.RAISED, 1, "ZeroDivisionError: division by zero")),
        ("import sys\nsys.exit('bye')", CheckFailure(Trouble.EXIT, 2)),
        (b"name = '\xff'", CheckFailure(Trouble.SYNTAX, 1, "")),
        (b"a = 1\n\0", CheckFailure(Trouble.SYNTAX, None, "")),
    ],
)
async def test_a_file_that_cannot_be_loaded_is_reported_with_the_line(
    tmp_path: Path, code: str | bytes, failure: CheckFailure
) -> None:
    told = await checked(tmp_path, code)
    assert told.loading is not None
    assert (told.loading.trouble, told.loading.line) == (failure.trouble, failure.line)
    assert failure.text in told.loading.text
    assert failures(told) == [NOT_RUN, NOT_RUN]


async def test_a_file_that_is_not_there_is_reported(tmp_path: Path) -> None:
    told = await run_checks(small_exercise(tmp_path), tmp_path / "adding.py")
    assert (told.loading, failures(told)) == (CheckFailure(Trouble.ABSENT), [NOT_RUN, NOT_RUN])


@pytest.mark.parametrize(
    "body",
    [
        "    while True:\n        pass",
        "    while True:\n        try: pass\n        except BaseException: pass",
    ],
)
async def test_an_endless_loop_is_ended_and_its_line_reported(tmp_path: Path, body: str) -> None:
    told = await checked(tmp_path, f"def add(a, b):\n{body}\n{LATER}", SHORT)
    first, second = failures(told)
    assert first is not None
    assert (first.trouble, first.text, second) == (Trouble.ENDLESS, "0.5", NOT_RUN)
    assert first.line in (2, 3, 4)


async def test_a_wait_that_blocks_is_ended_and_is_no_endless_loop(tmp_path: Path) -> None:
    told = await checked(
        tmp_path, f"def add(a, b):\n    import threading\n    threading.Event().wait()\n{LATER}", BRIEF
    )
    first, second = failures(told)
    assert first is not None
    assert (first.trouble, first.text, first.line, second) == (Trouble.STUCK, "1", 3, NOT_RUN)


@pytest.mark.stories
async def test_the_time_that_a_busy_machine_takes_is_not_counted(tmp_path: Path) -> None:
    """A right solution that sleeps for 2.5 s of wall time without computing."""
    code = DONE.replace("def add(a, b):", "def add(a, b):\n    import time\n    time.sleep(2.5)")
    told = await checked(tmp_path, code, CheckLimits(check_s=1.5, wait_s=30, all_s=60))
    assert failures(told) == [None, None]


async def test_a_wait_without_end_is_ended_and_the_other_checks_run(tmp_path: Path) -> None:
    code = DONE.replace("return add(a, b)", "import asyncio\n    await asyncio.Event().wait()")
    told = await checked(tmp_path, code, BRIEF)
    assert failures(told) == [None, CheckFailure(Trouble.STUCK, 7, "1")]


async def test_an_endless_loop_in_a_thread_that_a_check_waits_for_is_reported_with_its_line(tmp_path: Path) -> None:
    thread = "import asyncio, threading\n    threading.Thread(target=work.add, args=(0, 0), daemon=True).start()\n    "
    check = CHECK.replace("got = await", f"{thread}await asyncio.Event().wait()\n    got = await")
    (tmp_path / "adding.py").write_text("def add(a, b):\n    while a == 0:\n        pass\n    return a + b\n" + LATER)
    told = await run_checks(small_exercise(tmp_path, check=check), tmp_path / "adding.py", SHORT)
    passed, endless = failures(told)
    assert passed is None
    assert endless is not None
    assert (endless.trouble, endless.line in (2, 3)) == (Trouble.ENDLESS, True)


async def test_an_endless_loop_while_the_file_is_loaded_is_reported_where_its_folder_has_any_name(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "演習 (1)\n"
    folder.mkdir()
    told = await checked(folder, "while True:\n    pass", SHORT)
    assert told.loading is not None
    assert (told.loading.trouble, told.loading.line in (1, 2)) == (Trouble.ENDLESS, True)


async def test_when_all_checks_together_take_too_long_the_one_that_ran_is_reported(tmp_path: Path) -> None:
    code = f"import time\ndef add(a, b):\n    time.sleep(60)\n{LATER}"
    told = await checked(tmp_path, code, CheckLimits(check_s=50, wait_s=50, all_s=3))
    assert failures(told) == [CheckFailure(Trouble.STUCK, None, "50"), NOT_RUN]


@pytest.mark.parametrize(
    ("body", "code"), [("os._exit(0)", "0"), ("os.kill(os.getpid(), 9)", "-9"), ("os.execv('/bin/false', ['x'])", "1")]
)
async def test_a_process_that_is_gone_without_a_word_is_reported(tmp_path: Path, body: str, code: str) -> None:
    told = await checked(tmp_path, f"import os\ndef add(a, b):\n    {body}\n{LATER}")
    assert failures(told) == [CheckFailure(Trouble.GONE, None, code), NOT_RUN]


@pytest.mark.parametrize("body", ["os.fork()", "while True: os.fork()"])
async def test_a_fork_is_refused_before_there_is_a_second_process(tmp_path: Path, body: str) -> None:
    told = await checked(tmp_path, f"import os\ndef add(a, b):\n    {body}\n{LATER}")
    assert failures(told) == [CheckFailure(Trouble.FORK, 3), NOT_RUN]
    assert told.left == 0


async def test_what_it_prints_is_kept_from_its_beginning_and_counted(tmp_path: Path) -> None:
    code = DONE + "\nfor number in range(20_000):\n    print(number, 'x' * 20)\nprint('é' * 3)"
    told = await checked(tmp_path, code)
    assert told.passed
    assert told.is_cut
    assert told.printed.startswith("0 xxxxxxxxxxxxxxxxxxxx\n1 xxx")
    assert len(told.printed) == PRINTED_BYTES
    assert told.printed_bytes > 500_000


async def test_a_print_that_never_ends_is_an_endless_loop(tmp_path: Path) -> None:
    told = await checked(tmp_path, f"def add(a, b):\n    while True:\n        print('again')\n{LATER}", SHORT)
    first, second = failures(told)
    assert first is not None
    assert (first.trouble, first.line in (2, 3), second) == (Trouble.ENDLESS, True, NOT_RUN)
    assert told.printed.startswith("again\nagain\n")


async def test_programs_that_it_leaves_running_are_ended_and_counted(tmp_path: Path) -> None:
    code = DONE + "\nimport subprocess\nprint(subprocess.Popen(['sleep', '77']).pid)"
    told = await checked(tmp_path, code)
    assert told.passed
    assert told.left == 1
    assert not _lives(int(told.printed))


async def test_it_gets_no_key_no_home_and_no_folder_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-recognisable")
    monkeypatch.setenv("OTHER_SECRET", "sk-recognisable")
    monkeypatch.setenv("HARNESS_MODEL", "mine")
    code = (
        DONE + "\nimport os\nprint(os.getcwd(), os.path.expanduser('~'), *map('='.join, os.environ.items()), sep='\\n')"
    )
    told = await checked(tmp_path, code)
    folder, home, *variables = told.printed.splitlines()
    assert "sk-recognisable" not in told.printed
    assert not [line for line in variables if line.startswith(("ANTHROPIC", "HARNESS_MODEL", "OTHER"))]
    assert Path(folder).parent == Path(home)
    assert not Path(home).exists()


def test_the_environment_of_the_child_finds_our_modules_from_any_folder(tmp_path: Path) -> None:
    given = environment({"PATH": "/bin", "LANG": "ja_JP.UTF-8", "API_TOKEN": "x", "PYTHONPATH": "."}, tmp_path)
    places = given["PYTHONPATH"].split(os.pathsep)
    assert all(Path(place).is_absolute() for place in places)
    assert len(places) == len([place for place in sys.path if place])
    assert given["LANG"] == "ja_JP.UTF-8"
    assert "API_TOKEN" not in given


def _lives(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
