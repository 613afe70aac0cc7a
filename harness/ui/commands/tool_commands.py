"""Slash commands about tools and failures: breakers, failure budget, alternatives, loops, practice faults."""

import re
from collections.abc import Callable

from harness.base.clock import time_of_day
from harness.base.external_text import counted, visible
from harness.events import BreakerCommand
from harness.policies.breakers.failure_budget import budget_used
from harness.session import RuleScope, SandboxLevel, Session, in_words, report_lines, table_lines
from harness.ui.commands.results import CommandError, CommandResult, ShowText, StartTask
from harness.ui.commands.session_commands import SCOPES

EFFECTS = {"read": "reads", "write": "writes", "run": "runs", "delegate": "asks"}
PROFILES = {
    SandboxLevel.FULL: (
        "read-only lines: read workspace and system, no network",
        "lines without a danger: write the workspace, reach the hosts below",
    ),
    SandboxLevel.FILES: (
        "read-only lines: read workspace and system, write nothing",
        "only in the full sandbox; here such lines are asked about",
    ),
    SandboxLevel.NONE: (
        "read-only lines run unasked, and nothing holds them",
        "only in the full sandbox; here such lines are asked about",
    ),
}
"""What *look* and *work* mean in each state."""
DONE = {
    BreakerCommand.TRIP: "is paused",
    BreakerCommand.ISOLATE: "is disabled",
    BreakerCommand.RELEASE: "is enabled; its next call is a probe",
    BreakerCommand.RESET: "is reset",
}


def tools(session: Session, argument: str) -> CommandResult:
    """List the tools with the first sentence of each description."""
    return ShowText(
        "\n".join(
            f"  {tool.name:<12} {EFFECTS[tool.effect]:<7} {_first_sentence(tool.description)}" for tool in session.tools
        )
    )


def mcp(session: Session, argument: str) -> CommandResult:
    """List the MCP servers, show one with its tools, restart it or switch it off."""
    if session.mcp is None or not session.mcp.servers:
        return ShowText("This session has no MCP servers; `harness mcp add` adds one, docs/mcp.md explains.")
    action, _, name = argument.rpartition(" ")
    if not argument:
        return ShowText("\n".join(one.line for one in session.mcp.servers))
    server = session.mcp.get(name)
    if server is None or action not in ("", "restart", "off"):
        names = ", ".join(one.config.name for one in session.mcp.servers)
        raise CommandError(f"/mcp takes a server ({names}), or restart or off before its name.")
    match action:
        case "restart":
            session.mcp.restart(server)
            return ShowText(f"{name} is started again.")
        case "off":
            session.mcp.switch_off(server)
            return ShowText(f"{name} is switched off; /mcp restart {name} starts it again.")
    about = (server.config.shown, f"from {server.config.origin}", server.version, *server.problems)
    said = [f"it wrote: {line}" for line in server.errors.splitlines()[-5:]]
    said += [f"it logged: {line}" for line in server.logged[-5:]]
    offers = [f"{tool}: {_first_sentence(one.description)}" for tool, one in server.names.items()]
    offers += [f"/{name} {one.hint}: {_first_sentence(one.description)}" for name, one in server.commands.items()]
    offers += [f"@{server.config.name}:{one.uri}: {one.about}" for one in server.resources]
    return ShowText(visible("\n".join((server.line, *(f"  {one}" for one in (*about, *said, *offers) if one)))))


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=[.:]) ", " ".join(text.split()), maxsplit=1)[0]


def breakers(session: Session, argument: str) -> CommandResult:
    """Show the breakers and their limits; `name=value` sets a limit first."""
    if argument:
        session.breakers.set_limits(**_numbers(argument))
    limits = session.breakers.limits
    numbers = (
        f"opens after {counted(limits.threshold, 'failure')} in a row; "
        f"probed {counted(limits.probe_distance, 'step')} later (cascades: {limits.cascade.value})"
    )
    return ShowText(
        "\n".join(
            (*table_lines(session.breakers.health, session.conversation.step, time_of_day), _used(session), numbers)
        )
    )


def _numbers(text: str) -> dict[str, object]:
    """`threshold=4 cascade=confirm` as a mapping."""
    found: dict[str, object] = {}
    for part in text.split():
        name, sign, value = part.partition("=")
        if not sign or not value:
            raise CommandError(f"{part!r} is not name=value; type for example /breakers threshold=4 cascade=confirm.")
        found[name] = int(value) if value.removeprefix("-").isdigit() else value
    return found


def budget(session: Session, argument: str) -> CommandResult:
    """Show the failure budget and the failures; a number sets it first."""
    if argument:
        if not argument.isdigit():
            raise CommandError(f"{argument!r} is not a number; type for example /budget 8.")
        session.breakers.set_limits(budget=int(argument))
    failures = (
        f"  step {entry.step}: {entry.tool}: {entry.failure.message}" for entry in session.breakers.report().log
    )
    return ShowText("\n".join((_used(session), *failures)))


def _used(session: Session) -> str:
    so_far = session.breakers.report()
    return f"failure budget: {budget_used(so_far.consumed, so_far.budget)} used in this turn"


def report(session: Session, argument: str) -> CommandResult:
    """Show the report of a pause."""
    return ShowText("\n".join(report_lines(session.breakers.report())))


def breaker_command(command: BreakerCommand) -> Callable[[Session, str], CommandResult]:
    """The slash command that changes the breaker of one tool."""

    def run(session: Session, argument: str) -> CommandResult:
        if not argument:
            other = "; /clear starts a new conversation" if command is BreakerCommand.RESET else ""
            raise CommandError(f"Which tool? Type /{command.value} and its name; /breakers lists them{other}.")
        every = command is BreakerCommand.RESET and argument == "all"
        session.breakers.command(command, "" if every else argument)
        return ShowText(f"{'Every breaker' if every else argument} {DONE[command]}.")

    return run


def confirm(session: Session, argument: str) -> CommandResult:
    """Confirm that the common cause of several failures is gone."""
    session.breakers.command(BreakerCommand.CONFIRM)
    return ShowText("Confirmed; tools that failed together are retried, starting with one.")


def alternatives(session: Session, argument: str) -> CommandResult:
    """List the alternatives to a tool."""
    if not argument:
        raise CommandError("Which tool? Type /alternatives and its name; /tools lists them.")
    lines = (
        f"  {number}. {in_words(route)}" for number, route in enumerate(session.breakers.alternatives(argument), 1)
    )
    return ShowText("\n".join((f"Alternatives to {argument}:", *lines)))


def loops(session: Session, argument: str) -> CommandResult:
    """Show loops and interventions; an argument changes the limits first."""
    if argument:
        session.loops.set(argument)
    return ShowText("\n".join(session.loops.lines))


def sandbox(session: Session, argument: str) -> CommandResult:
    """Show what holds the commands of the model; `remove HOST` asks about a host again."""
    action, _, host = argument.partition(" ")
    if not action:
        return StartTask(_sandbox(session))
    if action != "remove" or not host.strip():
        raise CommandError(f"{argument!r} is not known; type /sandbox, or /sandbox remove and a host.")
    session.permissions.forget_host(host.strip().lower())
    return ShowText(f"{visible(host.strip())} is asked about again.")


async def _sandbox(session: Session) -> str:
    report = await session.sandbox_report()
    look, work = PROFILES[report.state.level]
    hosts = (f"{visible(host)} ({SCOPES[scope]})" for host, scope in report.hosts.items())
    keys = [f"{counted(report.keys, 'place')} with keys"] if report.keys else []
    variables = [f"{counted(report.variables, 'variable')} with secrets"] if report.variables else []
    facts = {
        "state": report.state.level_in_words,
        "because": report.state.why,
        "to mend": report.state.repair,
        "look": look,
        "work": work,
        "free": "what you, a rule or yolo allowed: not held",
        "hosts": ", ".join(hosts) or "none; a new one is asked about",
        "hidden": ", ".join(keys + variables) or "nothing",
        "to change": "sandbox, sandbox_hosts, sandbox_env (docs/sandbox.md)",
        "to undo": "/sandbox remove HOST" if set(report.hosts.values()) - {RuleScope.SETTINGS} else "",
    }
    return "\n".join(f"  {name:<9}  {value}" for name, value in facts.items() if value)


def fault(session: Session, argument: str) -> CommandResult:
    """Make the practice model fail."""
    return ShowText(session.faults.break_model(argument))


def tool_fault(session: Session, argument: str) -> CommandResult:
    """Make a tool fail."""
    return ShowText(session.faults.break_tool(argument))
