"""The prompts of /review and /init: what rules can say about changed lines, and about a folder."""

import ast
import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from harness.practice.rule_model.conversation import PastTurn
from harness.practice.rule_model.plans import PendingCalls, Plan, PlanContext, Results, asked
from harness.practice.rule_model.results import first_paragraph, lines_in, paths_in
from harness.practice.rule_model.tools import Ability

_REVIEW = re.compile(r"\AReview the changes below, compared with (?P<base>.+)\. Read the files")
_INIT = re.compile(
    r"\ALook at this folder with tools that read\b.*?\bwrite the text of (?P<name>[\w.]+), which", re.DOTALL
)
MOST_FILES = 20
"""Changed Python files that a review reads."""

_SIGNS: tuple[tuple[str, str, str, str], ...] = (
    (r"^(<{7}|>{7}|\|{7})( |$)", "", "a conflict is not resolved", "Keep one side and remove the marks."),
    (r"-----BEGIN [A-Z ]*PRIVATE KEY-----", "", "a private key gets into the repository",
     "Remove it, and make a new one."),
    (r"\b(AKIA[0-9A-Z]{16}|ghp_\w{30,}|sk-ant-[\w-]{20,})\b", "", "a secret gets into the repository",
     "Read it from the environment, and revoke this one."),
    (r"\b(breakpoint\(\)|i?pdb\.set_trace\(\))", "py", "the program stops in the debugger here", "Remove the call."),
    (r"^\s*debugger\b", "js jsx ts tsx", "the program stops in the debugger here", "Remove the statement."),
    (r"^\s*except( BaseException)?:", "py", "this catches Ctrl+C and the end of the program, too",
     "Name the exceptions that can be handled here."),
    (r"^\s*except\b.*:\s*pass\s*$", "py", "an error is swallowed without a trace", "Handle it, or let it through."),
    (r"\bshell=True\b", "py", "text of others in this command is run by the shell", "Pass a list of arguments."),
    (r"(?<![\w.])eval\(", "py js jsx ts tsx", "text of others in this call is run as code", "Parse it instead."),
    (r"\bdef \w+\(.*=\s*(\[\]|\{\}|list\(\)|dict\(\)|set\(\))", "py", "all calls share this default value",
     "Use None, and make the value in the body."),
    (r"\b(assert|if|while)\b.*[!=]=\s*None\b", "py", "== asks the object, which may answer anything",
     "Write `is None`."),
    (r"\b(FIXME|XXX)\b", "", "the code itself says that something is wrong", "Mend that, or say when it may stay."),
    (r"\b(it|test|describe)\.only\(|@pytest\.mark\.skip\b(?!.*reason)", "", "tests are left out", "Run all of them."),
)  # fmt: skip
"""What is looked for in an added line: pattern, endings of the files (empty: all), what goes wrong, the remedy."""


def command_plan(context: PlanContext, turn: PastTurn) -> Plan | None:
    """The plan for such a prompt; None for any other prompt."""
    if review := _REVIEW.match(turn.prompt):
        return _review(context, review["base"], turn.changes)
    if init := _INIT.match(turn.prompt):
        return _instructions(context, init["name"])
    return None


# ── /review ─────────────────────────────────────────────────────────────────────────────────────────


def _review(context: PlanContext, base: str, changes: str) -> Plan:
    lines = list(_added_lines(changes))
    findings = [
        (path, number, wrong, remedy) for path, number, line in lines for wrong, remedy in _wrong_in(path, line)
    ]
    names = [name for name in dict.fromkeys(path for path, _, _ in lines) if name.endswith(".py")][:MOST_FILES]
    if names:
        calls = tuple(context.tools.call(Ability.READ, path=name) for name in names)
        results = yield PendingCalls(context.say("will_read", name=", ".join(names)), calls)
        for name, result in zip(names, results, strict=True):
            read, whole = lines_in(result.text)
            if not result.failed and whole and (bad := _syntax_error("\n".join(read))):
                findings.insert(0, (name, *bad, "Mend the syntax."))
    if not findings:
        return context.say("review_clean", base=base, count=len(lines))
    found = "\n".join(f"- `{path}:{number}`: {wrong}. {remedy}" for path, number, wrong, remedy in findings)
    return f"{context.say('review_found', base=base, count=len(lines))}\n\n{found}"


def _added_lines(changes: str) -> Iterator[tuple[str, int, str]]:
    """Path, number in the new file, and text of the lines that a diff adds."""
    path, number, left = "", 0, 0
    for line in changes.split("\n"):
        if left <= 0 and (hunk := re.match(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@", line)):
            number, left = int(hunk[1]), int(hunk[2] or 1)
        elif left > 0:
            if line.startswith("+"):
                yield path, number, line[1:]
            if line[:1] in ("+", " ", ""):
                number, left = number + 1, left - 1
        elif head := re.match(r"(\S.*?)  \+\d+ −\d+(?:  \(|$)", line):
            path = head[1]


def _wrong_in(path: str, line: str) -> Iterator[tuple[str, str]]:
    ending = path.rpartition(".")[2]
    for pattern, endings, wrong, remedy in _SIGNS:
        if (not endings or ending in endings.split()) and re.search(pattern, line):
            yield wrong, remedy


def _syntax_error(text: str) -> tuple[int, str] | None:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError) as error:
        return getattr(error, "lineno", None) or 1, f"Python cannot read the file ({getattr(error, 'msg', error)})"
    return None


# ── /init ───────────────────────────────────────────────────────────────────────────────────────────


def _instructions(context: PlanContext, name: str) -> Plan:
    """The title and the first paragraph of the README, the commands of the build files, the folders. Of a file that
    there is everything is kept, and a section that it lacks is added."""
    listed = yield from asked(context, context.say("will_list"), Ability.FIND, pattern="**/*")
    paths, hidden = paths_in(listed.text) or ([], 0)
    wanted = [path for path in paths if path in (name, *_COMMANDS) or re.fullmatch(r"(?i)readme(\.\w+)?", path)]
    results: Results = ()
    if wanted:
        calls = tuple(context.tools.call(Ability.READ, path=path) for path in wanted)
        results = yield PendingCalls(context.say("will_read", name=", ".join(wanted)), calls)
    texts = {
        path: "\n".join(lines_in(result.text)[0])
        for path, result in zip(wanted, results, strict=True)
        if not result.failed
    }
    commands = list(
        dict.fromkeys(line for path, read in _COMMANDS.items() for line in read(texts.get(path, ""), paths))
    )
    sections = {"Commands": commands, "Layout": list(_layout(paths, hidden))}
    parts = [texts[name].strip() if name in texts else _title(texts)]
    if not parts[0].startswith("#"):
        parts[0] = f"# {name}\n\n{parts[0]}".strip()
    for title, lines in sections.items():
        if lines and not re.search(rf"(?im)^#+ .*\b{title}\b", parts[0]):
            parts.append(f"## {title}\n\n" + "\n".join(f"- {line}" for line in lines))
    return "\n\n".join(parts)


def _title(texts: Mapping[str, str]) -> str:
    readme = next((text for path, text in texts.items() if path.lower().startswith("readme")), "")
    title = re.search(r"(?m)^#\s+(.+?)\s*#*$", readme)
    opening = first_paragraph(readme.split("\n"))
    return f"# {title[1] if title else 'This project'}" + (f"\n\n{opening}" if opening else "")


def _layout(paths: list[str], hidden: int) -> Iterator[str]:
    tops: dict[str, int] = {}
    for top, below, _ in (path.partition("/") for path in paths):
        tops[top] = tops.get(top, 0) + 1 if below else 0
    for top, count in tops.items():
        if count:
            yield f"`{top}/`: {count} file{'' if count == 1 else 's'}" + (" or more" if hidden else "")


def _of_make(text: str, paths: list[str]) -> Iterator[str]:
    targets = re.findall(r"(?m)^([A-Za-z][\w-]*)\s*:(?!=)", text)
    yield from (f"`make {target}`" for target in dict.fromkeys(targets))


def _of_python(text: str, paths: list[str]) -> Iterator[str]:
    try:
        tools: Any = tomllib.loads(text).get("tool", {})
    except tomllib.TOMLDecodeError:
        return
    run = "uv run " if "uv.lock" in paths else ""
    tests = next((path for path in paths if re.search(r"(^|/)test_\w+\.py$", path)), "")
    if "pytest" in tools or tests:
        yield f"`{run}pytest`" + (f"; one file: `{run}pytest {tests}`" if tests else "")
    yield from (f"`{run}{line}`" for tool, line in (("ruff", "ruff check ."), ("mypy", "mypy")) if tool in tools)


def _of_node(text: str, paths: list[str]) -> Iterator[str]:
    try:
        scripts = json.loads(text).get("scripts")
    except (ValueError, AttributeError):
        return
    yield from (f"`npm run {name}`: `{line}`" for name, line in (scripts if isinstance(scripts, dict) else {}).items())


def _of_rust(text: str, paths: list[str]) -> Iterator[str]:
    yield from ("`cargo build`", "`cargo test`; one test: `cargo test NAME`") if text else ()


def _of_go(text: str, paths: list[str]) -> Iterator[str]:
    yield from ("`go build ./...`", "`go test ./...`; one test: `go test -run NAME ./...`") if text else ()


_COMMANDS: Mapping[str, Callable[[str, list[str]], Iterator[str]]] = {
    "Makefile": _of_make,
    "pyproject.toml": _of_python,
    "package.json": _of_node,
    "Cargo.toml": _of_rust,
    "go.mod": _of_go,
}
"""The commands that a build file stands for."""
