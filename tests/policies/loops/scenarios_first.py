"""The half of the scenarios that thresholds may be tuned with."""

from tests.policies.loops.streams import (
    Made,
    Scenario,
    again,
    change,
    each,
    edit,
    exploring,
    fail,
    one_by_one,
    read,
    run,
    word,
)

FAILED = "FAILED tests/test_cart.py::test_total - AssertionError: the discount is missing\n1 failed, 11 passed in {} s"


def _loops() -> tuple[Scenario, ...]:
    a, b = read("src/cart.py", "def total(): ..."), read("tests/test_cart.py", "def test_total(): ...")
    reads = a, b, read("src/price.py", "RATE = 3")
    orders = (0, 1, 2), (2, 0, 1), (1, 2, 0), (2, 1, 0)
    debugging = (
        *(run("git diff", "+ total += 1"), a, b, run("python -m cart", "Traceback: ZeroDivisionError")),
        *(run("grep -rn RATE src", "src/price.py:1"), reads[2], edit("src/price.py", "3 -> 4")),
        *(run("pytest -q", "1 failed"), change("git checkout src/price.py", "Updated 1 path from the index")),
        *(run("git status", "nothing to commit"), run("ls src", "cart.py price.py"), run("git log -1", "Add carts")),
    )
    return (
        Scenario("F-L01", "ping-pong between two files", again(20, a, b), 6),
        Scenario(
            *("F-L02", "an edit and its undoing"),
            again(15, edit("src/cart.py", "3 -> 4"), edit("src/cart.py", "4 -> 3")),
            latest=6,
        ),
        Scenario(
            *("F-L03", "the same failing test on an unchanged tree, its duration differs"),
            each(20, lambda i: [fail("run_command", "pytest -q tests/test_cart.py", FAILED.format(f"0.{40 + i}"))]),
            latest=3,
        ),
        Scenario(
            *("F-L04", "other words for each search, the same refusal"),
            each(
                20, lambda i: [fail("web_search", f"{word(i)} python tutorial", "HTTP 401: the API key is not valid")]
            ),
            latest=4,
        ),
        Scenario(
            *("F-L05", "the list of tasks is worded anew again and again, and the plan is read in between"),
            each(
                20,
                lambda i: [
                    Made("write_todos", f"1. {word(i)} the parser 2. {word(i + 1)} the tests", "4 todos, 0 done"),
                    read("PLAN.md", "# Plan\nparser, tests"),
                ],
            ),
            latest=16,
            weak=True,
        ),
        Scenario(
            *("F-L06", "wandering through folders with cd and ls"),
            again(
                12,
                run("cd src && ls", "cart.py price.py"),
                run("cd .. && ls", "src tests README.md"),
                run("cd tests && ls", "test_cart.py"),
                run("pwd", "/project"),
            ),
            latest=12,
        ),
        Scenario(
            "F-L07", "looking at the log of a build that died", again(30, run("cat build.log", "[3/90] cc a.o")), 4
        ),
        Scenario(
            *("F-L08", "a declared poll in a hurry"),
            each(40, lambda i: [Made("job_status", "job 7", f"{i} % done", poll=True)]),
            latest=5,
            weak=True,
            apart_s=0.2,
        ),
        Scenario(
            *("F-L09", "a declared poll of a job that hangs"),
            again(40, Made("job_status", "job 7", "queued", poll=True)),
            latest=22,
            apart_s=30.0,
        ),
        Scenario(
            *("F-L10", "after good work: edit, test, take back, and once more"),
            exploring(12)
            + again(
                10,
                edit("src/price.py", "RATE = 3 -> RATE = 4"),
                fail("run_command", "pytest -q", "E assert 12 == 9\n1 failed, 11 passed"),
                change("git checkout src/price.py", "Updated 1 path from the index"),
            ),
            latest=21,
        ),
        Scenario(
            *("F-L11", "the same three reads at once, in any order"),
            tuple(tuple(reads[place] for place in orders[number % 4]) for number in range(15)),
            latest=4,
        ),
        Scenario(
            *("F-L12", "a service that stays down, with a request id and the time in its answer"),
            each(
                20,
                lambda i: [
                    run("curl -s localhost:8080/health", f"12:0{i % 6}:1{i % 10} id=9f{i:02}c4d7 state=starting")
                ],
            ),
            latest=4,
        ),
        Scenario(
            *("F-L13", "edits of a text that is not in the file, worded otherwise each time"),
            each(
                15, lambda i: [fail("edit_file", f"src/cart.py: {word(i)} -> x", "old_str was not found in the file")]
            ),
            latest=4,
        ),
        Scenario("F-L14", "a round of debugging in twelve steps", again(6, *debugging), 36),
        Scenario(
            *("F-L15", "the same search without hits between reads of other files"),
            each(
                15,
                lambda i: [
                    run("grep -rn 'def checkout' src", "no matches"),
                    read(f"src/{word(2 * i)}.py", f"# {word(2 * i)}"),
                    read(f"src/{word(2 * i + 1)}.py", f"# {word(2 * i + 1)}"),
                ],
            ),
            latest=22,
            weak=True,
        ),
    )


def _work() -> tuple[Scenario, ...]:
    passed, failed = run("pytest -q -k upload", "1 passed in 0.42 s"), "1 failed in 0.57 s: upload was refused"
    flaky = fail("run_command", "pytest -q -k upload", failed)
    return (
        Scenario(
            *("F-W01", "ten files edited in the same way"),
            each(
                10,
                lambda i: [
                    run(f"grep -n log src/{word(i)}.py", f"{3 * i}: log.warn(e)"),
                    edit(f"src/{word(i)}.py", "log.warn -> log.warning"),
                ],
            ),
        ),
        Scenario(
            *("F-W02", "forty files renamed one by one, each without a word"),
            each(40, lambda i: [change(f"git mv img/{word(i)}.jpeg img/{word(i)}.jpg")]),
        ),
        Scenario(
            *("F-W03", "fifty pages of a list"),
            each(50, lambda i: [Made("list_issues", f"cursor={word(i)}", f"20 issues, next={word(i + 1)}")]),
        ),
        Scenario(
            *("F-W04", "following a log that grows"),
            each(50, lambda i: [run("tail -n 3 app.log", f"request {i} of {word(i)}: 200\nrequest {i + 1}: 200")]),
        ),
        Scenario(
            *("F-W05", "waiting for a build with a declared poll, then looking at what it made"),
            again(20, Made("job_status", "build 12", "running", poll=True))
            + one_by_one([Made("job_status", "build 12", "succeeded", poll=True), run("ls dist", "app.whl")]),
            apart_s=10.0,
        ),
        Scenario(
            *("F-W06", "an undeclared wait for a build that gets on"),
            each(45, lambda i: [run("sleep 20; tail -n 1 build.log", f"[{2 * i}/90] cc {word(i)}.o")]),
            apart_s=20.0,
        ),
        Scenario(
            *("F-W07", "a flaky test run ten times to see how often it fails"),
            one_by_one([passed, flaky, passed, passed, flaky, passed, flaky, flaky, passed, passed]),
        ),
        Scenario(
            *("F-W08", "bisecting"),
            each(
                9,
                lambda i: [
                    run("pytest -q -k upload", "1 passed") if i % 3 else flaky,
                    change(
                        f"git bisect {'good' if i % 3 else 'bad'}",
                        f"Bisecting: {2 ** (9 - i)} revisions left to test after this\n{word(i)}: {word(i + 20)}",
                    ),
                ],
            ),
        ),
        Scenario(
            *("F-W09", "getting to know a repository, with a list of the top folder now and then"),
            each(
                6,
                lambda i: [
                    run("ls", "README.md src tests"),
                    run(f"ls src/{word(i)}", f"{word(i)}.py __init__.py"),
                    read(f"src/{word(i)}/{word(i)}.py", f"def {word(i)}(): ..."),
                    run(f"grep -rn 'import {word(i)}' .", f"tests/test_{word(i)}.py:1"),
                ],
            ),
        ),
        Scenario(
            *("F-W10", "one file read after each of its edits"),
            each(
                12,
                lambda i: [
                    edit("src/cart.py", f"def {word(i)} -> def {word(i + 1)}"),
                    read("src/cart.py", f"def {word(i + 1)}(): ..."),
                ],
            ),
        ),
        Scenario(
            *("F-W11", "eight attempts at a test that says the same after each"),
            each(
                8,
                lambda i: [
                    edit("src/cart.py", f"return {word(i)}"),
                    fail("run_command", "pytest -q", FAILED.format("0.41")),
                ],
            ),
        ),
        Scenario(
            *("F-W12", "five files at once, six times"),
            tuple(
                tuple(read(f"src/{word(5 * row + place)}.py", f"# {word(5 * row + place)}") for place in range(5))
                for row in range(6)
            ),
        ),
        Scenario(
            *("F-W13", "a download that breaks twice and gets on"),
            each(
                6,
                lambda i: [
                    fail(
                        "run_command", "curl -C - -O https://example.com/big.iso", "curl: (56) Connection reset by peer"
                    ),
                    fail(
                        "run_command", "curl -C - -O https://example.com/big.iso", "curl: (56) Connection reset by peer"
                    ),
                    run("ls -s big.iso", f"{i * 10_240} big.iso"),
                ],
            ),
        ),
        Scenario(
            *("F-W14", "status and lint after each edit, always the same answers"),
            each(
                10,
                lambda i: [
                    edit("src/cart.py", f"# {word(i)}"),
                    run("git status --short", " M src/cart.py"),
                    run("ruff check", "All checks passed!"),
                ],
            ),
        ),
        Scenario(
            *("F-W15", "a file read three times before it is edited, twice over"),
            one_by_one(
                [
                    *[read("src/cart.py", "def total(): ...")] * 3,
                    edit("src/cart.py", "total -> sum_of"),
                    *[read("src/cart.py", "def sum_of(): ...")] * 3,
                    edit("src/cart.py", "sum_of -> total_of"),
                ]
            ),
        ),
    )


LOOPS, WORK = _loops(), _work()
