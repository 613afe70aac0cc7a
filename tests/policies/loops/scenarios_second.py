"""The half of the scenarios that is run at the end only."""

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


def _loops() -> tuple[Scenario, ...]:
    a, b = read("src/cart.py", "def total(): ..."), read("src/price.py", "RATE = 3")
    c = read("README.md", "# Cart")
    page = "<title>Just a moment...</title> Enable JavaScript and cookies to continue"
    views = [Made("open_file", f"cart.py line={line}", f"[{line}-{line + 99} of 312]") for line in (1, 101, 201, 101)]
    tour = [
        *[run(f"ls src/{word(i)}", f"{word(i)}.py") for i in range(10)],
        *[read(f"src/{word(i)}/{word(i)}.py", f"def {word(i)}(): ...") for i in range(10)],
    ]
    repair = (
        *(
            run("docker compose ps", "db: restarting"),
            run("docker compose logs db", "FATAL: data directory is not empty"),
        ),
        *(change("docker compose down", "Removed 2 containers"), change("docker volume prune -f", "reclaimed 0B")),
        *(
            change("docker compose up -d", "Started 2 containers"),
            run("sleep 10"),
            run("nc -z localhost 5432", "closed"),
        ),
    )
    return (
        Scenario("S-L01", "three files in turn", again(15, a, b, c), 9),
        Scenario(
            *("S-L02", "two formatters that undo each other"),
            again(
                12,
                change("ruff format src", "1 file reformatted"),
                change("black -l 79 src", "reformatted src/cart.py\n1 file reformatted."),
            ),
            latest=6,
        ),
        Scenario(
            *("S-L03", "one package after the other, without a network"),
            each(
                12, lambda i: [fail("run_command", f"pip install {word(i)}", "ERROR: could not resolve host pypi.org")]
            ),
            latest=4,
        ),
        Scenario(
            *("S-L04", "pull and push, rejected each time"),
            again(
                12,
                run("git pull", "Already up to date."),
                fail("run_command", "git push", "! [remote rejected] main -> main (protected branch hook declined)"),
            ),
            latest=6,
        ),
        Scenario(
            *("S-L05", "one file again and again, each time beside another"),
            tuple((a, read(f"src/{word(i)}.py", f"# {word(i)}")) for i in range(20)),
            latest=8,
            weak=True,
        ),
        Scenario("S-L06", "a page that wants a browser", again(15, Made("fetch", "https://example.com/docs", page)), 4),
        Scenario(
            *("S-L07", "asking a user where nobody is there"),
            again(10, fail("ask_user", "Which database?", "nobody can be asked in this session")),
            latest=3,
        ),
        Scenario(
            *("S-L08", "a tool that does not exist, with other arguments each time"),
            each(10, lambda i: [fail("str_replace", f"src/{word(i)}.py", "there is no tool named str_replace")]),
            latest=4,
        ),
        Scenario(
            *("S-L09", "a folder made and removed"),
            again(10, change("mkdir build", ""), change("rm -r build", "")),
            latest=6,
        ),
        Scenario(
            *("S-L10", "a loop that goes on after the user has spoken"),
            again(20, run("npm test", "0 tests found")),
            latest=7,
            prompts=(4,),
        ),
        Scenario(
            "S-L11", "a long piece of good work, then seven steps in a cycle", exploring(60) + again(8, *repair), 81
        ),
        Scenario("S-L12", "scrolling down and up", again(12, *views), 12),
        Scenario(
            *("S-L13", "two errors in turn, whatever the arguments"),
            each(
                10,
                lambda i: [
                    fail("query", f"select {word(i)} from orders", "syntax error near the end of the input"),
                    fail("query", f"select {word(i)} from orders;", "semicolons are refused by this gateway"),
                ],
            ),
            latest=6,
        ),
        Scenario(
            *("S-L14", "a task begun and put back"),
            again(
                12,
                Made("write_todos", "[~] write the parser", "1 todo, in progress"),
                Made("write_todos", "[ ] write the parser", "1 todo, pending"),
            ),
            latest=6,
        ),
        Scenario("S-L15", "the same tour of twenty places", again(5, *tour), 60),
    )


def _work() -> tuple[Scenario, ...]:
    bench = [run("python bench.py", f"mean 1.{tenths} ms over 1000 rounds") for tenths in (21, 24, 19)]
    health = run("curl -s localhost:8080/health", "ok")
    weather = run("cat report.txt", "12 orders")
    causes = (
        "KeyError: 'rate'",
        "AssertionError: the total is wrong",
        "TypeError: unsupported operand type for addition",
        "ModuleNotFoundError: no module named yaml",
        "ZeroDivisionError: division by zero",
    )
    return (
        Scenario(
            *("S-W01", "a long file read piece by piece"),
            each(
                30,
                lambda i: [Made("read_file", f"app.log offset={200 * i}", f"lines {200 * i} and on: {word(i)}")],
            ),
        ),
        Scenario(
            *("S-W02", "thirty pictures converted, each without a word"),
            each(30, lambda i: [change(f"convert {word(i)}.png {word(i)}.webp")]),
        ),
        Scenario(
            *("S-W03", "watching a pipeline to its end"),
            again(40, Made("pipeline_status", "run 4711", "in progress", poll=True))
            + one_by_one([Made("pipeline_status", "run 4711", "success", poll=True), change("git tag v1.0", "")]),
            apart_s=15.0,
        ),
        Scenario(
            *("S-W04", "stepping through a program"),
            each(60, lambda i: [Made("debugger", "next", f"cart.py:{10 + i % 9} round {i} total = {7 * i}")]),
        ),
        Scenario(
            *("S-W05", "twelve names looked for, none of them there"),
            each(12, lambda i: [run(f"grep -rn 'def {word(i)}' src", "no matches")]),
        ),
        Scenario(
            *("S-W06", "five test files, each failing for a reason of its own"),
            each(5, lambda i: [fail("run_command", f"pytest -q tests/test_{word(i)}.py", causes[i - 1])]),
        ),
        Scenario(
            *("S-W07", "eight mutants: change, see the test fail, take back"),
            each(
                8,
                lambda i: [
                    edit("src/cart.py", f"mutant {word(i)}"),
                    fail("run_command", "pytest -q -x", "1 failed in 0.3 s"),
                    change("git checkout src/cart.py", "Updated 1 path from the index"),
                ],
            ),
        ),
        Scenario(
            *("S-W08", "the user asks three times for the same look at a file"),
            again(9, weather),
            prompts=(1, 4, 7),
        ),
        Scenario(
            *("S-W09", "a server that starts at the third attempt, then three looks at its health"),
            one_by_one(
                [
                    fail("run_command", "npm start", "Error: listen EADDRINUSE: address already in use :::8080"),
                    run("lsof -ti :8080", "4711"),
                    change("kill 4711"),
                    fail("run_command", "npm start", "Error: listen EADDRINUSE: address already in use :::8080"),
                    run("lsof -ti :8080", "4712"),
                    change("kill 4712"),
                    run("npm start", "listening on 8080"),
                    *[health] * 3,
                ]
            ),
        ),
        Scenario(
            *("S-W10", "the tests of fourteen packages, all of which pass"),
            each(14, lambda i: [run(f"cd packages/{word(i)} && npm test", "12 passed in 1.2 s")]),
        ),
        Scenario(
            *("S-W11", "a shared header read beside each of seven files"),
            tuple((read("src/api.h", "int f(int);"), read(f"src/{word(i)}.c", f"int {word(i)};")) for i in range(7)),
        ),
        Scenario(
            *("S-W12", "a benchmark run three times after each change"),
            each(4, lambda i: [*bench, edit("src/cart.py", f"cache {word(i)}")]),
        ),
        Scenario(
            *("S-W13", "a list of tasks brought up to date between pieces of work"),
            each(
                10,
                lambda i: [
                    Made("write_todos", f"{i - 1} of 10 done, {word(i)} in progress", "todos updated"),
                    edit(f"src/{word(i)}.py", f"add {word(i)}", "1 file changed"),
                    run("pytest -q", f"{10 + i} passed in 0.4 s"),
                ],
            ),
        ),
        Scenario(
            *("S-W14", "a rebase with a conflict in six commits"),
            each(
                6,
                lambda i: [
                    fail(
                        "run_command",
                        "git rebase --continue",
                        f"CONFLICT (content): merge conflict in src/{word(i)}.py",
                    ),
                    edit(f"src/{word(i)}.py", f"keep theirs: {word(i)}"),
                    change("git add -A"),
                ],
            ),
        ),
        Scenario(
            *("S-W15", "five pages over a bad line, each at the third attempt"),
            each(
                5,
                lambda i: [
                    fail("fetch", f"https://example.com/{word(i)}", "timed out after 10 s"),
                    fail("fetch", f"https://example.com/{word(i)}", "timed out after 10 s"),
                    Made("fetch", f"https://example.com/{word(i)}", f"<h1>{word(i)}</h1>"),
                ],
            ),
        ),
    )


LOOPS, WORK = _loops(), _work()
