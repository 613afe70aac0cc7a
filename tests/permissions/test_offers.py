"""What is offered to be kept as a rule: never more than what was looked at."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.permissions import Allow, Ask, Mode
from tests.permissions.programs.reading import found, run, state
from tests.permissions.test_verdicts import decided


def offers(line: str) -> tuple[str, ...]:
    """The rules that are on offer for a line that is asked about."""
    decision = decided(line)
    assert isinstance(decision, Ask), decision
    return decision.offers


EXACTLY = [
    *("npm run build", "npm run build --watch", "npm test", "npm install", "pnpm run build a", "yarn build", "npx tsc"),
    *("make test", "cargo test", "go test ./...", "pytest", "pytest -q tests/test_a.py", "python -m pytest -x"),
    *("git push origin main", "git fetch origin", "git pull", "git rebase main", "git clone u", "git checkout main"),
    *("gh pr create", "gh pr merge 1", "tar xf a.tar", "docker run alpine", "docker compose up", "kubectl apply -f a"),
    *("curl https://example.org", "wget u", "ssh host ls", "scp a host:b", "rsync a b", "man ls", "vim a"),
    *("sed -i s/a/b/ a", "cp a b", "mv a b", "tee a", "ln -s a b", "ruff check --fix", "mypy .", "python tool.py"),
    *("./build.sh", "./gradlew test", "./run.sh npm test", "./node_modules/.bin/jest a", "node app.js"),
    *("python -c 'print(1)'", "node -e 1", "bash -e a.sh", "./venv/bin/python a.py", "vendor/tool.sh a"),
    *("sh -x a.sh b", "python manage.py --settings x.y migrate", "uv run a", "cp 'a b' \"c'd\" 'e*'"),
]


@pytest.mark.parametrize("line", EXACTLY)
def test_a_command_is_offered_as_it_is_written(line: str) -> None:
    [offered] = [offer for offer in offers(line) if offer.startswith("bash(")]
    assert not offered.endswith("*)")
    assert isinstance(decided(line, Mode.ASK, allow=list(offers(line))), Allow)
    for more in ("x", "--config=x", "-x", "$x", "*"):
        assert isinstance(decided(f"{line} {more}", allow=list(offers(line))), Ask)


WIDE = [
    ("mkdir -p a/b", "bash(mkdir *)"),
    ("touch a", "bash(touch *)"),
    ("git add src", "bash(git add *)"),
    ("git commit -m 'the message'", "bash(git commit *)"),
    ("npm run build -- --watch", "bash(npm run build -- *)"),
    ("npm run build -- all --watch", "bash(npm run build -- all *)"),
    ("pnpm run test:unit -- a.ts", "bash(pnpm run test:unit -- *)"),
    ("python plot.py data.csv", "bash(python plot.py *)"),
    ("python3 tools/plot.py --out x.png", "bash(python3 tools/plot.py *)"),
    ("python manage.py migrate shop 0002", "bash(python manage.py migrate *)"),
    ("node build.mjs --fast", "bash(node build.mjs *)"),
    ("./build.sh --fast", "bash(./build.sh *)"),
    ("bash scripts/build.sh --fast", "bash(bash scripts/build.sh *)"),
]


@pytest.mark.parametrize(("line", "offered"), WIDE)
def test_where_nothing_more_can_come_of_it_other_words_may_follow(line: str, offered: str) -> None:
    assert offers(line) == (offered,)
    assert isinstance(decided(f"{line} more", allow=offered), Allow)


NASTY = {
    "mkdir": ["mkdir /etc/x", "mkdir ~/.ssh/x", "mkdir .git/hooks", "mkdir $x", "mkdir a && rm -rf src", "mkdir `x`"],
    "touch": ["touch /etc/x", "touch ~/.bashrc", "touch .git/hooks/pre-commit", "touch .envrc", "touch a; curl u | sh"],
    "git": [
        *("git push", "git -c core.editor=x commit", "git -c alias.add=!x add", "git config core.editor x"),
        *("git rebase x", "git add .env > ~/.bashrc", "git commit -m $(x)", "GIT_EDITOR=x git commit"),
        "git --exec-path=x add a",
    ],
    "npm": [
        *("npm run deploy", "npm run build --script-shell=./x", "npm run build --prefix /tmp/x -- --watch"),
        *("npm publish", "npm --prefix /tmp/x run build -- --watch", "npm run build --node-options=-r./x"),
        *("npm exec build -- --watch", "npm run build -- $x", "npm run build -- a > .git/hooks/x"),
        *("PATH=. npm run build -- a", "npm run 'build -- a'"),
    ],
    "pnpm": ["pnpm run test:unit --script-shell=./x", "pnpm -C /tmp/x run test:unit -- a", "pnpm run deploy -- a"],
    "python": [
        *("python -c x plot.py", "python -m plot.py", "python other.py x", "python -i plot.py x"),
        "python manage.py flush",
    ],
    "python3": [
        *("python3 -c 1", "python3 tools/../tools/plot.py x", "python3 plot.py x"),
        "PYTHONPATH=x python3 tools/plot.py",
    ],
    "node": ["node -r ./x build.mjs", "node --import ./x build.mjs --fast", "NODE_OPTIONS=-r./x node build.mjs x"],
    "./build.sh": [
        *("build.sh x", "./build.sh.bak", "sh ./build.sh", "BASH_ENV=x ./build.sh a", "../build.sh x", "./build.sh $x"),
    ],
    "bash": [
        *("bash -c x", "bash --rcfile x scripts/build.sh x", "bash -x scripts/build.sh x", "bash scripts/other.sh x"),
    ],
}


@pytest.mark.parametrize(("line", "offered"), WIDE)
def test_what_is_kept_covers_nothing_nasty(line: str, offered: str) -> None:
    for nasty in NASTY[line.split()[0]]:
        assert isinstance(decided(nasty, allow=offered), Ask), nasty


def test_what_is_not_known_or_dangerous_is_not_offered() -> None:
    table = [
        *("rm -rf build", "make $target", "PATH=. make", "FOO=1 make", "cp *.py out", "npm run build -- *"),
        *("'A=1' make", "cp ~/'a b' c", "make <(ls)", "make 'a\nb'", "git commit -m $x", "sudo make"),
    ]
    assert [line for line in table if offers(line) != ()] == []


WORDS = st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=12) | st.sampled_from(
    ["-x", "--y=z", "*", "~", "a b", "'", '"', "$HOME", "`", "\\", "#", "!", "{a,b}", "run", "--", "[a]", "=", ""]
)


@given(
    program=st.sampled_from(["make", "pytest", "npm", "git", "docker", "sed", "cp", "tool"]),
    words=st.lists(WORDS, max_size=4),
)
def test_an_offer_for_any_words_means_just_these(program: str, words: list[str]) -> None:
    line = " ".join([program, *("'" + word.replace("'", "'\\''") + "'" for word in words)])
    decision = decided(line)
    if not isinstance(decision, Ask) or len(decision.offers) != 1 or decision.offers[0].endswith("*)"):
        return
    assert isinstance(decided(line, allow=list(decision.offers)), Allow)
    for other in (f"{line} x", line + "x", line.replace(program, program + "x", 1)):
        assert not isinstance(decided(other, allow=list(decision.offers)), Allow) or isinstance(decided(other), Allow)


# ── why a rule for a script ends at --, and none for make in a * ────────────────────────────────


@pytest.mark.parametrize(
    ("looked_at", "then"),
    [
        ("npm run build", "npm run build --script-shell=./evil.sh"),
        ("make all", "make all SHELL=./evil.sh"),
        ("sed -n 1p a", "sed -n '1p;1e ./evil.sh' a"),
        ("awk '{print $1}' a", "awk 'BEGIN { system(\"./evil.sh\") }' a"),
        ("tar xf a.tar", "tar xf a.tar --checkpoint=1 --checkpoint-action=exec=./evil.sh"),
    ],
)
def test_words_that_would_run_something_else_are_asked_about(looked_at: str, then: str, tmp_path: Path) -> None:
    if not found(looked_at):
        pytest.skip("the program is not installed")
    (tmp_path / "package.json").write_text('{"name": "x", "scripts": {"build": "true"}}')
    (tmp_path / "Makefile").write_text("all:\n\t@true && true\n")
    (tmp_path / "evil.sh").write_text("#!/bin/sh\ntouch PWNED\n")
    (tmp_path / "evil.sh").chmod(0o755)
    (tmp_path / "a").write_text("text\n")
    run("tar cf a.tar a", tmp_path)
    run(looked_at, tmp_path)
    assert "PWNED" not in state(tmp_path)
    run(then, tmp_path)
    assert "PWNED" in state(tmp_path), "the test has lost its object"
    decision = decided(looked_at)
    if isinstance(decision, Ask):
        assert isinstance(decided(then, allow=list(decision.offers)), Ask)
    else:
        assert isinstance(decided(then), Ask)
