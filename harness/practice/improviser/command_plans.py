"""Plans that run something."""

import re

from harness.practice.improviser import phrases as say
from harness.practice.improviser.background_plans import begin
from harness.practice.improviser.file_plans import list_files, read_file
from harness.practice.improviser.goals import AboutProject, Aspect, ListFiles, ReadFile, RunCommand, RunTests, UseTool
from harness.practice.improviser.own_tools import call_of
from harness.practice.improviser.plan_context import Setting, fenced
from harness.practice.improviser.plan_recovery import Ask, Plan, together
from harness.practice.improviser.results import exit_code, listed_paths, output_of
from harness.practice.improviser.schemas import properties_of, required_of
from harness.practice.improviser.turns import Call, Result

_TALLY = re.compile(
    r"(?:\d+ (?:passed|failed|skipped|errors?|xfailed|deselected)(?:, )?)+|\d+ passing|Ran \d+ tests?|test result: .*|"
    r"Tests:\s+.*|\d+ pass\b",
)
_OTHER_PYTHON = re.compile(r"^python ")
_COMMAND_NOT_FOUND = 127


def run_command(setting: Setting, goal: RunCommand) -> Plan:
    """Run a command line and show what it wrote; in the background, only begin it."""
    if goal.background:
        return (yield from begin(setting, goal.command))
    call = setting.tools.run(goal.command)
    (result,) = yield Ask(setting.say(say.WILL_RUN, command=_short(goal.command)), (call,))
    other = _OTHER_PYTHON.sub("python3 ", goal.command)
    if exit_code(result) != _COMMAND_NOT_FOUND or other == goal.command:
        return _report(setting, goal.command, call, result)
    call = setting.tools.run(other)
    (result,) = yield Ask(setting.say(say.WILL_RUN, command=_short(other)), (call,))
    return _report(setting, other, call, result)


def _report(setting: Setting, command: str, call: Call, result: Result) -> str:
    output = output_of(result)
    if result.not_run:
        return setting.trouble(result, call)
    note = f"\n\n{setting.say(say.SHORTENED, note=result.shortened)}" if result.shortened else ""
    code = exit_code(result)
    if result.failed or code:
        shown = setting.say(say.EXIT_CODE, code=code) if code else ""
        if not output:
            return setting.say(say.RAN_BADLY_SILENTLY, command=_short(command), code=shown)
        head = setting.say(say.RAN_BADLY, command=_short(command), code=shown)
        return f"{head}\n\n{fenced(output)}{note}"
    if not output:
        return setting.say(say.RAN_SILENTLY, command=_short(command))
    return f"{setting.say(say.RAN, command=_short(command))}\n\n{fenced(output)}{note}"


def run_tests(setting: Setting, goal: RunTests) -> Plan:
    """See how the project runs its tests, run them, tell how it went."""
    look = setting.tools.listing()
    (listed,) = yield Ask(setting.say(say.WILL_FIND_TESTS), (look,))
    if trouble := setting.trouble(listed, look):
        return trouble
    paths = listed_paths(listed)
    makefile = ""
    if "Makefile" in paths:
        read = setting.tools.read("Makefile")
        (text,) = yield Ask(setting.say(say.WILL_READ, path="Makefile"), (read,))
        makefile = "" if text.failed else text.text
    command = test_command(paths, makefile)
    if command is None:
        return setting.say(say.NO_TESTS)
    if goal.background:
        return (yield from begin(setting, command))
    call = setting.tools.run(command)
    (result,) = yield Ask(setting.say(say.WILL_RUN, command=command), (call,))
    if result.failed and "No module named pytest" in result.text:
        command = "pytest -q"
        call = setting.tools.run(command)
        (result,) = yield Ask(setting.say(say.WILL_RUN, command=command), (call,))
    if result.not_run:
        return setting.trouble(result, call)
    output = output_of(result)
    tallies = _TALLY.findall(output)
    tally = f": {tallies[-1].strip(', ')}" if tallies else ""
    if not result.failed and not exit_code(result):
        return setting.say(say.TESTS_PASSED, command=command, tally=tally)
    return f"{setting.say(say.TESTS_FAILED, command=command, tally=tally)}\n\n{fenced(output or result.text)}"


def test_command(paths: tuple[str, ...], makefile: str) -> str | None:
    """The command that runs a project's tests, by the files that are in it; None when there are no tests."""
    top = {path for path in paths if "/" not in path}
    has_test_files = any(re.search(r"(^|/)(test_[^/]*|[^/]*_test)\.py$", path) for path in paths)
    if re.search(r"^\s*(?:\d+\t)?test:", makefile, re.MULTILINE):
        return "make test"
    if has_test_files or ("pytest.ini" in top) or ({"pyproject.toml", "tox.ini"} & top and _folder(paths, "tests")):
        return "python3 -m pytest -q"
    if "package.json" in top:
        return "npm test"
    if "Cargo.toml" in top:
        return "cargo test"
    if "go.mod" in top:
        return "go test ./..."
    return None


def about_project(setting: Setting, goal: AboutProject) -> Plan:
    """Look at the files and, if there is one, the README."""
    return (
        yield from together(
            (read_file(setting, ReadFile("README.md", Aspect.SUMMARY)), list_files(setting, ListFiles()))
        )
    )


def use_tool(setting: Setting, goal: UseTool) -> Plan:
    """Call somebody's own tool with arguments from the sentence."""
    tool = next(tool for tool in setting.tools.tools if tool.name == goal.name)
    call = call_of(tool, goal.values)
    if call is None:
        names = required_of(tool.schema) or tuple(properties_of(tool.schema))
        example = ", ".join(f"{name}=…" for name in names)
        return setting.say(say.NEEDS_ARGUMENTS, tool=tool.name, names=", ".join(names), example=example)
    (result,) = yield Ask(setting.say(say.WILL_USE, tool=tool.name), (call,))
    if trouble := setting.trouble(result, call):
        return trouble
    text = result.text.strip()
    shown = text if text and "\n" not in text and len(text) < 200 else fenced(text)
    return f"{setting.say(say.TOOL_SAID, tool=tool.name)}\n\n{shown}"


def _folder(paths: tuple[str, ...], name: str) -> bool:
    return any(path.startswith(f"{name}/") for path in paths)


def _short(command: str) -> str:
    line = command.strip().splitlines()[0] if command.strip() else command
    return line if line == command.strip() and len(line) <= 120 else f"{line[:120]} …"
