"""From goals to one plan: each goal has its plan, and the order is right."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from harness.practice.improviser import phrases as say
from harness.practice.improviser.arithmetic import value_of
from harness.practice.improviser.background_plans import list_background, show_background, stop_background
from harness.practice.improviser.change_plans import append_text, create_file, replace_text
from harness.practice.improviser.command_plans import about_project, run_command, run_tests, use_tool
from harness.practice.improviser.delegation_plans import delegate, delegate_each
from harness.practice.improviser.file_plans import (
    compare_files,
    describe,
    find_files,
    list_files,
    read_file,
    reading,
    search_text,
)
from harness.practice.improviser.goals import (
    AboutProject,
    AppendText,
    AskUser,
    Calculate,
    CompareFiles,
    CreateFile,
    Delegate,
    DelegateEach,
    FetchPage,
    FindFiles,
    Forget,
    Goal,
    ListBackground,
    ListFiles,
    ReadFile,
    ReadSkill,
    Recall,
    Remember,
    ReplaceText,
    RunCommand,
    RunTests,
    SaveReport,
    SearchText,
    SearchWeb,
    ShowBackground,
    StopBackground,
    Talk,
    Topic,
    UseTool,
)
from harness.practice.improviser.memory_plans import forget, recall, remember
from harness.practice.improviser.offers import help_text, refusal
from harness.practice.improviser.plan_context import Setting
from harness.practice.improviser.plan_recovery import Plan, joined_reports, one_after_another, together
from harness.practice.improviser.question_plans import ask_user
from harness.practice.improviser.skill_plans import read_skill
from harness.practice.improviser.toolset import NoTool
from harness.practice.improviser.web_plans import fetch_page, search_web


def plan_for(setting: Setting, goals: Sequence[Goal]) -> Plan:
    """One plan for all goals: what only looks goes side by side, what changes something waits its turn."""
    return one_after_another(tuple(_stages(setting, goals)))


def _stages(setting: Setting, goals: Sequence[Goal]) -> Iterator[Plan]:
    for changes, group in groupby(goals, key=lambda goal: goal.changes):
        plans = [_guarded(setting, goal) for goal in group]
        yield one_after_another(plans) if changes else together(plans)


def _guarded(setting: Setting, goal: Goal) -> Plan:
    """A plan that says so when the tools it needs are not there."""
    try:
        return (yield from _plan(setting, goal))
    except NoTool as missing:
        if not setting.tools.tools:
            return setting.say(say.NO_TOOLS)
        return setting.say(say.NO_TOOL, ability=missing.ability.value)


def _plan(setting: Setting, goal: Goal) -> Plan:
    match goal:
        case ListFiles():
            return list_files(setting, goal)
        case FindFiles():
            return find_files(setting, goal)
        case ReadFile():
            return read_file(setting, goal)
        case SearchText():
            return search_text(setting, goal)
        case CompareFiles():
            return compare_files(setting, goal)
        case AboutProject():
            return about_project(setting, goal)
        case CreateFile():
            return create_file(setting, goal)
        case SaveReport():
            return _save_report(setting, goal)
        case AppendText():
            return append_text(setting, goal)
        case ReplaceText():
            return replace_text(setting, goal)
        case RunCommand():
            return run_command(setting, goal)
        case RunTests():
            return run_tests(setting, goal)
        case UseTool():
            return use_tool(setting, goal)
        case Delegate():
            return delegate(setting, goal)
        case DelegateEach():
            return delegate_each(setting, goal)
        case ListBackground():
            return list_background(setting, goal)
        case ShowBackground():
            return show_background(setting, goal)
        case StopBackground():
            return stop_background(setting, goal)
        case ReadSkill():
            return read_skill(setting, goal)
        case SearchWeb():
            return search_web(setting, goal)
        case FetchPage():
            return fetch_page(setting, goal)
        case Remember():
            return remember(setting, goal)
        case AskUser():
            return ask_user(setting, goal)
        case Recall():
            return recall(setting, goal)
        case Forget():
            return forget(setting, goal)
        case Calculate():
            return _said(_calculation(setting, goal))
        case Talk():
            return _said(_talk(setting, goal.topic))
        case _:
            raise NotImplementedError(f"no plan for {goal}")


def _save_report(setting: Setting, goal: SaveReport) -> Plan:
    """Find out, then write down what was found out."""
    if not goal.goals:
        return setting.say(say.NO_REFERENT)
    troubles: list[str] = []

    def source(inner: Goal) -> Plan:
        if not isinstance(inner, ReadFile):
            return (yield from _guarded(setting, inner))
        read = yield from reading(setting, inner.path)
        if isinstance(read, str):
            troubles.append(read)
            return ""
        path, text, _ = read
        return describe(setting, inner, path, text)

    report = yield from together([source(inner) for inner in goal.goals])
    if troubles:
        return joined_reports(troubles)
    done = yield from create_file(setting, CreateFile(goal.path, report + "\n"))
    return f"{done}\n\n{report}"


def _said(text: str) -> Plan:
    """A plan that needs nothing."""
    yield from ()
    return text


def _calculation(setting: Setting, goal: Calculate) -> str:
    value = value_of(goal.expression)
    if value is None:
        return setting.say(say.NO_VALUE, expression=goal.expression)
    return setting.say(
        say.RESULT, expression=goal.expression, value=f"{value:.12g}" if isinstance(value, float) else value
    )


def _talk(setting: Setting, topic: Topic) -> str:
    match topic:
        case Topic.GREETING:
            return setting.say(say.GREETING)
        case Topic.THANKS:
            return setting.say(say.THANKS)
        case Topic.GOODBYE:
            return setting.say(say.GOODBYE)
        case Topic.IDENTITY:
            return setting.say(say.IDENTITY)
        case Topic.HELP:
            return help_text(setting.language)
        case Topic.TOOLS:
            return _tools(setting)
        case Topic.NO_REFERENT:
            return setting.say(say.NO_REFERENT)
        case Topic.NOT_UNDERSTOOD:
            return refusal(setting.language)


def _tools(setting: Setting) -> str:
    if not setting.tools.tools:
        return setting.say(say.NO_TOOLS)
    lines = [f"**{tool.name}**: {tool.description.split('. ')[0].strip().rstrip('.')}" for tool in setting.tools.tools]
    return setting.say(say.TOOLS, list=setting.bullets(lines))
