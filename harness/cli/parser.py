"""The flags and arguments of `harness` and of each of its subcommands."""

from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

COMMANDS = {
    "learn": "the course: step through a harness, chapter by chapter",
    "check": "check an exercise of the course, show a hint, or take the final exam",
    "run": "run a plan: a Python script that lets agents work",
    "doctor": "show the settings, their origins, and problems",
    "sessions": "list the sessions of this folder",
    "breakers": "show the circuit breakers of a session, at its end or at any step",
    "watch": "watch a session that runs in another terminal",
    "replay": "replay a recorded session",
    "export": "write a session as Markdown or JSON",
    "shot": "draw a session at any moment as an SVG file",
    "tasks": "list, show, add or release tasks of a task board",
    "worktree": "list, compare, merge, keep or remove the worktrees of a repository",
    "cron": "list, add, run or change scheduled prompts",
    "fleet": "share work between machines",
    "mcp": "list, add, remove or sign in to MCP servers, or be one",
    "admission": "show running and queued agents of all your sessions",
    "transitions": "print the transitions of the loop and the remedy for each fault",
    "settings": "list all settings with their defaults and variables",
    "practice": "serve the practice model, or inject faults before a real one",
    "serve": "serve the app to a browser on this machine",
    "acp": "serve an editor that speaks the Agent Client Protocol",
    "completion": "print a script that completes commands, flags and values in your shell",
}
MOST_PROMPT_BYTES = 200_000
"""Of a file for the system prompt."""
_FALLBACK = "a model to use when the first is overloaded or declines; up to 3"
_SANDBOX = "what holds shell commands: the best of this system, nothing, or only the full sandbox"
_THEIR_MODES = {"default": "ask", "acceptEdits": "edits", "bypassPermissions": "yolo", "dontAsk": "read"}
"""What Claude Code calls them."""
_PLAIN = "lines only, for screen readers and simple terminals"
_JSON = "print JSON"
_SESSION = "session id, the beginning of one, or a journal file"
_SESSIONS_OF = "use the sessions of this folder"


def flags(namespace: "Namespace") -> dict[str, object]:
    """The flags as settings; None: not given."""
    return {
        "model": namespace.model,
        "fallback_models": namespace.fallback_model,
        "endpoint": namespace.endpoint,
        "max_steps": namespace.max_steps,
        "max_tokens": namespace.max_tokens,
        "max_wait_s": namespace.max_wait,
        "max_concurrent": namespace.max_concurrent,
        "board": namespace.board,
        "team": namespace.team,
        "max_queue_size": namespace.max_queue_size,
        "max_budget_usd": namespace.max_budget_usd,
        "effort": namespace.effort,
        "permission_mode": _mode(namespace),
        "sandbox": namespace.sandbox,
        "plain": namespace.plain or None,
        "debug": namespace.debug or None,
        "workspace": namespace.cwd,
        "add_dirs": namespace.add_dir,
        "permissions_allow": namespace.allowed_tools,
        "permissions_deny": namespace.disallowed_tools,
        "practice": True if namespace.practice == "" else None,
        "practice_script": namespace.practice or None,
        "tool_faults": namespace.tool_faults,
        "trust_folder": namespace.trust_folder,
        "mcp_config": namespace.mcp_config,
        "strict_mcp_config": namespace.strict_mcp_config,
        "append_system_prompt": _text_or_file(namespace.append_system_prompt),
    }


def _mode(namespace: "Namespace") -> str | None:
    """The permission mode that the flags ask for. --yolo does not end plan mode."""
    return {"read": "deny"}.get(mode := namespace.permission_mode, mode) or ("yolo" if namespace.yolo else None)


def _no_system_prompt(text: str) -> str:
    """The empty text, with which programs ask for the usual one."""
    from argparse import ArgumentTypeError

    if text:
        raise ArgumentTypeError("the system prompt cannot be replaced; --append-system-prompt adds to it")
    return text


def _rules(text: str) -> list[str]:
    """Rules with commas between them; a comma within brackets is part of its rule."""
    import re

    return [rule.strip() for rule in re.split(r",(?![^(]*\))", text) if rule.strip()]


def _text_or_file(given: str | None) -> str | None:
    """The text of a flag, or that of the file after an @. Raises SettingsError."""
    if given is None or not given.startswith("@"):
        return given
    from pathlib import Path

    from harness.base.errors import SettingsError
    from harness.base.files import read_regular

    try:
        return read_regular(Path(given[1:]).expanduser(), MOST_PROMPT_BYTES).decode()
    except OSError as error:
        why = error.strerror or error
    except UnicodeDecodeError:
        why = "it is not UTF-8"
    raise SettingsError(f"--append-system-prompt: {given[1:]} cannot be read: {why}.")


def agent_parser() -> "ArgumentParser":
    """The flags of `harness` itself."""
    from argparse import SUPPRESS

    parser = _parser("harness", "An agent that works in this folder. Without -p it opens a conversation.")
    parser.usage = "harness [flags] [PROMPT]\n       harness -p [PROMPT] [flags]\n       harness COMMAND …"
    add = parser.add_argument
    _input_and_output(parser)
    add("-m", "--model", metavar="NAME", help="the model to use")
    add("--fallback-model", action="append", metavar="NAME", help=_FALLBACK)
    add("--endpoint", metavar="NAME", help="the platform: anthropic, bedrock, vertex or foundry")
    add("--effort", metavar="LEVEL", help="how much the model thinks: low, medium, high, xhigh or max")
    add("-c", "--continue", action="store_true", dest="go_on", help="continue the latest session of this folder")
    add("-r", "--resume", nargs="?", const="", metavar="ID", help="resume a session by id or name; without: choose one")
    add("--fork-session", action="store_true", help="with -c or -r: continue in a copy")
    add("--reopen", metavar="ID", help=SUPPRESS)  # of `serve`: this session, whatever else was asked for
    _permissions(parser)
    _limits(parser)
    add("--board", metavar="NAME", help='a task board: of this "session", or of the repository by a name')
    add(
        "--team",
        action="store_true",
        default=None,
        help="let the model start members that stay and write to each other",
    )
    add("--cwd", metavar="FOLDER", help="the folder to work in")
    add("-w", "--worktree", nargs="?", const="", metavar="NAME", help="work in a worktree, made where there is none")
    add("--carry-changes", action="store_true", help="take your uncommitted changes into the new worktree")
    add("--append-system-prompt", metavar="TEXT", help="add this to the system prompt; @FILE: the text of a file")
    add("--add-dir", action="append", metavar="DIR", help="a further folder to read and change like the first")
    add("--mcp-config", action="append", metavar="FILE", help="MCP servers of this session, also as JSON")
    add("--strict-mcp-config", action="store_true", default=None, help="use no others")
    add("--practice", nargs="?", const="", metavar="SCRIPT", help="use the built-in practice model, which needs no key")
    add("--tool-faults", metavar="FILE", help="make tools fail as FILE says")
    trust = parser.add_mutually_exclusive_group()
    trust.add_argument("--trust-folder", action="store_true", default=None, help="trust the settings of this folder")
    trust.add_argument("--no-trust-folder", action="store_false", dest="trust_folder", help="ignore them")
    add("--plain", action="store_true", help=_PLAIN)
    add("--inline", action="store_true", help="keep the conversation in the terminal's scrollback, prompt below it")
    add("-d", "--debug", action="store_true", help="write a log with tracebacks and print its path")
    add("-v", "--version", action="store_true", help="print the version")
    commands = "\n".join(f"  {name:<12} {text}" for name, text in COMMANDS.items())
    codes = "0 answered, 1 failed, 2 bad usage, 3 stopped by a limit, 4 a tool call was not allowed, 130 interrupted"
    parser.epilog = f"commands:\n{commands}\n\nexit codes: {codes}"
    return parser


def _input_and_output(parser: "ArgumentParser") -> None:
    """The prompt and the form of the answer, for users and for programs."""
    from argparse import SUPPRESS

    add = parser.add_argument
    add("prompt", nargs="?", metavar="PROMPT", help="the first prompt")
    add(
        *("-p", "--print", "--prompt"),
        nargs="?",
        const="",
        metavar="PROMPT",
        help="print the answer and exit; piped standard input is appended to the prompt",
        dest="print",
    )
    add("--output-format", choices=("text", "json", "stream-json"), help="with -p: format of standard output")
    add(
        "--input-format",
        choices=("text", "stream-json"),
        help="with -p; stream-json: a program sends prompts, answers and requests as lines of JSON",
    )
    add("--include-partial-messages", action="store_true", help="with --input-format stream-json: pieces of answers")
    add("--replay-user-messages", action="store_true", help="with --input-format stream-json: send prompts back")
    add("--permission-prompt-tool", choices=("stdio",), help="stdio: the program on standard input is asked")
    for name in ("--verbose", "--await-initialize", "--allow-dangerously-skip-permissions"):
        add(name, action="store_true", help=SUPPRESS)  # programs that drive other agents pass these
    add("--system-prompt", type=_no_system_prompt, help=SUPPRESS)
    add("--idempotency-key", metavar="KEY", help="with -p and --resume: run the prompt of this key once")
    add(
        "--json-schema",
        metavar="FILE",
        help="with -p: answer with JSON for the schema in FILE (-: standard input) or in this text",
    )


def _permissions(parser: "ArgumentParser") -> None:
    """Which calls run, and what holds them."""
    add = parser.add_argument
    add("-y", "--yolo", action="store_true", help="allow every tool call without asking")
    add(
        "--permission-mode",
        choices=("ask", "edits", "read", "plan", "yolo"),
        type=lambda name: _THEIR_MODES.get(name, name),
        help="what runs without asking; plan: nothing that writes, until you approve a plan",
    )
    add(
        *("--allowed-tools", "--allowedTools"),
        type=_rules,
        metavar="RULES",
        help='calls that run without asking, such as "bash(git *),write"',
    )
    add("--disallowed-tools", "--disallowedTools", type=_rules, metavar="RULES", help="calls that are refused")
    add("--sandbox", choices=("auto", "off", "required"), help=_SANDBOX)


def _limits(parser: "ArgumentParser") -> None:
    """How much one session, and all of them, may use."""
    add = parser.add_argument
    add("--max-steps", "--max-turns", metavar="N", help="stop after N model replies")
    add("--max-tokens", metavar="N", help="output tokens per reply")
    add("--max-budget-usd", metavar="DOLLARS", help="stop when this much has been spent")
    add("--max-wait", metavar="SECONDS", help="with -p: longest wait that a server may ask for (0)")
    add("--max-concurrent", metavar="N", help="agents that run at the same time in all your sessions (5; 0: none)")
    add("--max-queue-size", metavar="N", help="agents that may be queued (20; 0: none)")


def command_parser(command: str) -> "ArgumentParser":
    """The flags of a subcommand."""
    parser = _parser(f"harness {command}", COMMANDS[command][:1].upper() + COMMANDS[command][1:] + ".")
    add = parser.add_argument
    match command:
        case "learn":
            _learn(parser)
        case "check":
            _check(parser)
        case "doctor":
            add("--online", action="store_true", help="also ask the server for its models, and connect to MCP servers")
            add("--cwd", metavar="FOLDER", help="the folder to examine")
        case "sessions":
            add("text", metavar="TEXT", nargs="?", help="only those with this text in the name, a prompt or an answer")
            add("--cwd", metavar="FOLDER", help=_SESSIONS_OF)
        case "export" | "breakers" | "shot" | "watch" | "replay":
            _recorded(command, parser)
        case "transitions":
            add("--markdown", action="store_true", help="print Markdown tables")
        case "admission":
            _admission(parser)
        case "tasks":
            _tasks(parser)
        case "worktree":
            _worktree(parser)
        case "cron":
            _cron(parser)
        case "fleet":
            _fleet(parser)
        case "mcp":
            _mcp(parser)
        case "practice":
            _practice(parser)
        case "completion":
            add("shell", choices=("bash", "zsh", "fish"), help="the shell; its script begins with how to load it")
        case "run":
            parser.usage = (
                "harness run PLAN.py [ARG …] [--seed N] [--yes] [--resume [ID]] [flags of harness]\n       harness run "
                "--goal TEXT [--members N] [--budget-usd DOLLARS] [--seed N] [--yes] [--resume [ID]] [flags of harness]"
            )
            add("script", metavar="FILE", nargs="?", help="a file with `async def main(plan)`")
            add("arguments", metavar="ARG", nargs="*", help="for the script; after -- also those that begin with -")
            _run_flags(parser)
        case "acp":
            parser.usage = "harness acp [flags of harness]"
        case "serve":
            parser.usage = "harness serve [--port N] [flags of harness] [PROMPT]"
            add("--port", type=_port, default=0, metavar="N", help="0: any free port")
    return parser


def run_options(arguments: list[str]) -> "Namespace":
    """The flags of harness and of `run`, in any order with the arguments of the script; what follows `--` is one."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    if {"-h", "--help"} & set(arguments[:end]):
        command_parser("run").parse_args(["--help"])
    flags_first = _parser("harness run", "")
    _run_flags(flags_first)  # their values would be a prompt to the parser of harness
    own, others = flags_first.parse_known_args(arguments[:end])
    namespace, rest = agent_parser().parse_known_args(others)
    words = command_parser("run").parse_intermixed_args([*filter(None, [namespace.prompt]), *rest])
    vars(namespace).update(vars(own) | {"script": words.script})
    namespace.arguments = [*words.arguments, *arguments[end + 1 :]]
    return namespace


def _run_flags(parser: "ArgumentParser") -> None:
    from argparse import SUPPRESS

    add = parser.add_argument
    goal = (
        "let a lead plan this goal on a task board and members do its tasks, in worktrees whose finished branches are "
        "merged into yours; alone with --resume: the goal it had"
    )
    add("--goal", nargs="?", const="", metavar="TEXT", help=goal)
    add("--members", type=_members, metavar="N", help="with --goal: how many members (3)")
    budget = "with --goal: stop when this much has been spent, as --max-budget-usd"
    add("--budget-usd", dest="max_budget_usd", default=SUPPRESS, metavar="DOLLARS", help=budget)
    seed = "of the random numbers of the script (0); with --goal: one member works at a time, in a fixed order"
    add("--seed", type=int, metavar="N", help=seed)
    add("--yes", action="store_true", help="start without a question")


def _members(text: str) -> int:
    from argparse import ArgumentTypeError

    if not text.isdecimal() or not int(text):
        raise ArgumentTypeError(f"{text} is not a number of members; give 1 or more")
    return int(text)


def _learn(parser: "ArgumentParser") -> None:
    add = parser.add_argument
    add("lesson", metavar="sNN", nargs="?", help="a chapter: s11, 11 or s11_error_recovery")
    add("--list", action="store_true", help="list the chapters with your progress")
    add("--auto", action="store_true", help="print a whole chapter without waiting")
    add(
        "-m",
        "--model",
        metavar="NAME",
        help="run the prompts of the chapter with this model instead of the script",
    )
    add(
        "--with",
        dest="with_",
        metavar="FILE",
        help="run the chapter with your solution of its exercise: your file, or the folder of the exercise",
    )
    add("--plain", action="store_true", help=_PLAIN)
    add("--language", choices=("en", "ja"), help="English or Japanese; remembered")
    add("--no-questions", action="store_true", help="do not ask what happens next")
    add("--restart", action="store_true", help="start the chapter from the beginning")
    add("--exercise", nargs="?", const="", metavar="NAME", help="copy an exercise to this folder; no NAME: all")
    add("--html", metavar="DIR", help="record all chapters and write them as web pages, in both languages")


def _check(parser: "ArgumentParser") -> None:
    """The flags of `check`, those for the final exam, and what it expects of a program."""
    add = parser.add_argument
    add("folder", metavar="FOLDER", nargs="?", help="the exercise; default: the one here, or all copies here")
    add("--hint", action="store_true", help="show the next hint instead")
    add("--language", choices=("en", "ja"), help="default: that of the copy, or of the course")
    add("--json", action="store_true", help=_JSON)
    add(
        "--final",
        metavar="PROGRAM",
        help='the final exam: play the fault table to a .py file or a command line, such as "claude -p"',
    )
    add("--continue-with", default="--continue", metavar="FLAG", help="with --final: continues the last session")
    add("--parts", metavar="TEXT", help="with --final: only parts with this text in the name; several: a/b")
    parser.epilog = """\
final exam:
  PROGRAM is started as `PROGRAM PROMPT`, in an empty folder, with ANTHROPIC_BASE_URL,
  ANTHROPIC_API_KEY, MY_AGENT_MODEL and MY_AGENT_FALLBACK_MODEL in its environment.
  It offers a shell tool, prints the answer once and exits with 0; when nothing helps it
  says why and exits with another code. `PROGRAM --continue PROMPT` continues after kill -9,
  and SIGTERM and SIGINT leave nothing running. $MY_AGENT_MODEL and $MY_AGENT_FALLBACK_MODEL
  may be written in PROGRAM, in single quotes.

exit codes: 0 everything passes, 1 something fails, 2 bad usage"""


def _recorded(command: str, parser: "ArgumentParser") -> None:
    """The flags of a command that reads one session."""
    add = parser.add_argument
    match command:
        case "export":
            add("id", metavar="ID", help='session id, the beginning of one, or "latest"')
            add("--format", choices=("markdown", "json"), default="markdown")
            add("-o", "--output", metavar="FILE", help="write to a file instead of standard output")
        case "breakers":
            add("session", metavar="SESSION", nargs="?", default="latest", help=_SESSION)
            add("--at", type=int, metavar="N", help="at the end of step N")
            add("--json", action="store_true", help="the table as one JSON object, without the changes")
        case "shot":
            add("session", metavar="SESSION", nargs="?", default="latest", help=_SESSION)
            moment = parser.add_mutually_exclusive_group()
            moment.add_argument("--at", type=int, metavar="N", help="at the end of step N")
            moment.add_argument("--seq", type=int, metavar="N", help="after record N of the journal")
            add("-o", "--output", metavar="FILE", required=True, help="the SVG file")
            add("--size", default="120x36", metavar="COLUMNSxROWS", help="default: 120x36")
            add("--panel", action="store_true", help="draw the panel only")
            add("--theme", default="", metavar="NAME", help="a theme; /theme lists them")
        case "watch":
            add("session", metavar="SESSION", nargs="?", help=f"{_SESSION}; default: the running one")
            add(
                "--output-format",
                choices=("text", "stream-json"),
                default="text",
                help="stream-json: one record a line",
            )
            add("--plain", action="store_true", help=_PLAIN)
        case "replay":
            add("session", metavar="SESSION", nargs="?", default="latest", help=_SESSION)
            add("--speed", type=float, default=1.0, metavar="N", help="0.25 to 32; 0: no pauses")
            add("--from", type=int, dest="step", metavar="STEP", help="start at this step")
            add("--plain", action="store_true", help=_PLAIN)
    add("--cwd", metavar="FOLDER", help=_SESSIONS_OF)


def _admission(parser: "ArgumentParser") -> None:
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="status", parser_class=type(parser))
    status = kinds.add_parser("status", help="list the running and queued agents", allow_abbrev=False)
    status.add_argument("--json", action="store_true", help=_JSON)
    status.add_argument("--cwd", metavar="FOLDER", help="use the settings of this folder")


def _fleet(parser: "ArgumentParser") -> None:
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="ACTION", parser_class=type(parser))

    def action(name: str, text: str, *, json: bool = False) -> "ArgumentParser":
        added: ArgumentParser = kinds.add_parser(name, help=text, allow_abbrev=False)
        if json:
            added.add_argument("--json", action="store_true", help="print one JSON object")
        return added

    init = action("init", "create the tables in the database of HARNESS_FLEET_URL")
    init.add_argument("--role", default="", metavar="NAME", help="let this role of the database use the tables")
    submit = action("submit", "give a task to the workers", json=True)
    submit.add_argument("prompt", metavar="PROMPT", help="what to do; - reads it from standard input")
    for flag, metavar, text in (
        ("--repo", "URL", "work in this git repository; the result is pushed as a branch"),
        ("--ref", "REF", "begin at this branch, tag or commit; default: its default branch"),
        ("--key", "KEY", "submitted again with the same key, it is the same task"),
        ("--needs", "IDS", "tasks that have to be done before, separated by commas"),
        ("--model", "NAME", "default: that of the worker's settings"),
        ("--permission-mode", "MODE", "default: that of the worker's settings"),
        ("--reply-to", "SESSION", "the lead of this session gets mail when the task ends"),
    ):
        submit.add_argument(flag, default="", metavar=metavar, help=text)
    submit.add_argument(
        "--tag", action="append", default=[], metavar="TAG", help="only for workers with this tag; may repeat"
    )
    submit.add_argument("--budget-usd", type=float, metavar="DOLLARS", help="end the task when it has cost so much")
    submit.add_argument("--priority", type=int, default=0, metavar="N", help="higher numbers start first; default: 0")
    submit.add_argument("--wait", action="store_true", help="wait for its end and print the answer")
    work = action("work", "take tasks and work on them, until it is drained or gets a signal")
    work.add_argument("--concurrency", type=_concurrency, default=1, metavar="N", help="tasks at a time; default: 1")
    work.add_argument("--tag", action="append", default=[], metavar="TAG", help="take tasks with this tag; may repeat")
    work.add_argument("--name", default="", metavar="NAME", help="of this worker; default: the machine and a number")
    trust = "let the hooks, MCP servers and settings of this repository run; may repeat"
    work.add_argument("--trust-repo", action="append", default=[], metavar="URL", help=trust)
    work.add_argument("--wait", action="store_true", help="where the database is away at the start, wait for it")
    work.add_argument("--json", action="store_true", help="print each event as a line of JSON")
    action("status", "show machines, workers, tasks, slots and breakers", json=True)
    action("cancel", "withdraw a task and those that need it").add_argument("id", metavar="ID")
    drain = action("drain", "let workers end their tasks and take no more")
    drain.add_argument("machine", nargs="?", default="", metavar="MACHINE", help="default: the workers of all machines")
    action("logs", "show what the workers did for a task", json=True).add_argument("id", metavar="ID")


def _concurrency(text: str) -> int:
    from argparse import ArgumentTypeError

    if not text.isdecimal() or not 1 <= int(text) <= 1_000:
        raise ArgumentTypeError(f"{text} is not a number of tasks; give 1 to 1000")
    return int(text)


def _tasks(parser: "ArgumentParser") -> None:
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="ACTION", parser_class=type(parser))

    def action(name: str, text: str) -> "ArgumentParser":
        added: ArgumentParser = kinds.add_parser(name, help=text, allow_abbrev=False)
        board = added.add_mutually_exclusive_group()
        board.add_argument("--board", metavar="NAME", help="a board of this repository; default: the setting, or board")
        board.add_argument("--session", metavar="ID", help="the board of this session")
        added.add_argument("--cwd", metavar="FOLDER", help="use the boards of this folder")
        return added

    listing = action("list", "list open tasks as a tree")
    listing.add_argument("--all", action="store_true", help="also those that have ended")
    listing.add_argument("--json", action="store_true", help="print one JSON object per task")
    action("show", "show a task with its history").add_argument("id", metavar="ID")
    adding = action("add", "create a task")
    adding.add_argument("subject", metavar="SUBJECT")
    adding.add_argument("--description", default="", metavar="TEXT")
    adding.add_argument("--needs", default="", metavar="IDS", help="tasks that come first: t1,t2")
    adding.add_argument("--priority", type=int, default=2, metavar="N", help="0 (most urgent) to 4")
    adding.add_argument("--assignee", default="", metavar="NAME", help="the only agent that may claim it")
    releasing = action("release", "end a claim, or resume a deferred task")
    releasing.add_argument("id", metavar="ID")
    releasing.add_argument("--note", default="", metavar="TEXT", help="why")
    action("board", "show where the board is, and its counts")


def _worktree(parser: "ArgumentParser") -> None:
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="ACTION", parser_class=type(parser))

    def action(name: str, text: str, names: str = "") -> "ArgumentParser":
        added: ArgumentParser = kinds.add_parser(name, help=text, allow_abbrev=False)
        added.add_argument("--cwd", metavar="FOLDER", help="use the repository of this folder")
        if names:
            added.add_argument(names, metavar="NAME", nargs="*" if names == "names" else None)
        return added

    action("list", "list the worktrees with what is in them")
    action("diff", "show what a worktree has changed since it began", "name")
    action("merge", "merge finished branches one after the other, behind check_command", "names")
    action("keep", "keep a worktree until it is removed by name", "name")
    removing = action("remove", "show what would be lost, ask, and remove a worktree", "name")
    removing.add_argument("--yes", action="store_true", help="do not ask")


def _cron(parser: "ArgumentParser") -> None:
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="ACTION", parser_class=type(parser))

    def action(name: str, text: str) -> "ArgumentParser":
        added: ArgumentParser = kinds.add_parser(name, help=text, allow_abbrev=False)
        added.add_argument("--cwd", metavar="FOLDER", help="use the schedule of this folder")
        return added

    action("list", "list the scheduled prompts of this project")
    adding = action("add", "schedule a prompt for the sessions of this project")
    adding.add_argument("when", metavar="WHEN", help='such as "30 9 * * 1-5", @daily, "in 3 minutes", "at 09:30"')
    adding.add_argument("prompt", metavar="PROMPT")
    adding.add_argument("--zone", metavar="NAME", help="time zone, such as Europe/Oslo; default: that of this machine")
    action("run", "run a prompt now without a screen, as -p does").add_argument("id", metavar="ID")
    action("pause", "let a prompt fire no more").add_argument("id", metavar="ID")
    action("resume", "let it fire again").add_argument("id", metavar="ID")
    action("delete", "delete a prompt").add_argument("id", metavar="ID")


def mcp_add_flags(parser: "ArgumentParser") -> None:
    """The flags of `harness mcp add`, which may also follow the name of the server."""
    add = parser.add_argument
    add("--env", action="append", metavar="NAME=VALUE", help="a variable of the program; ${NAME} works")
    add("--header", action="append", metavar="NAME:VALUE", help="a header for each request")
    add("--transport", choices=("stdio", "http", "sse"), help="default: by the form of the command")
    add("--sandbox", choices=("free", "work", "look"), help="of a program; free: without the sandbox")
    add("--project", action="store_true", help="add it to .mcp.json of the folder instead")


def mcp_add_rest(words: "list[str]", options: "Namespace") -> "list[str]":
    """Read the flags that follow the name of a server into `options`; returns the command behind them."""
    parser = _parser("harness mcp add", "")
    mcp_add_flags(parser)
    if not words or not words[0].startswith("--"):
        return words  # the command, without flags before it
    end = words.index("--") if "--" in words else len(words)
    _, left = parser.parse_known_args(words[:end], options)
    return [*left, *words[end + 1 :]]


def _mcp(parser: "ArgumentParser") -> None:
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="ACTION", parser_class=type(parser))

    def action(name: str, text: str, *, of_one: bool = True) -> "ArgumentParser":
        added: ArgumentParser = kinds.add_parser(name, help=text, allow_abbrev=False)
        added.add_argument("--cwd", metavar="FOLDER", help="use the servers of this folder")
        if of_one:
            added.add_argument("name", metavar="NAME")
        return added

    action("list", "connect to each server and show how it is", of_one=False)
    action("get", "show a server and its tools")
    adding = action("add", "add a server to your own: NAME -- COMMAND, or NAME https://…")
    mcp_add_flags(adding)
    adding.add_argument(
        "command", metavar="COMMAND", nargs="...", help="the program with its arguments, or the address"
    )
    importing = action("import", "add the servers that another program's file names", of_one=False)
    importing.add_argument("file", metavar="FILE", help="such as ~/.claude.json, ~/.cursor/mcp.json, .vscode/mcp.json")
    importing.add_argument("--only", action="append", metavar="NAME", help="only this one; may be repeated")
    importing.add_argument("--replace", action="store_true", help="also those whose name you have already")
    removing = action("remove", "remove a server from your own")
    removing.add_argument("--project", action="store_true", help="remove it from .mcp.json of the folder instead")
    action("login", "sign in to a server with the browser")
    serving = kinds.add_parser("serve", help="offer the tools for files and tasks to other agents", allow_abbrev=False)
    serving.usage = "harness mcp serve [--port N] [flags of harness]"
    serving.add_argument(
        "--port", type=_port, metavar="N", help="over HTTP on this machine, 0: any free port; default: standard input"
    )
    action("logout", "delete the tokens of a server")


def _practice(parser: "ArgumentParser") -> None:
    from harness.practice.mcp_server import FAULTS

    kinds = parser.add_subparsers(dest="kind", required=True, metavar="serve|proxy|mcp", parser_class=type(parser))
    serve = kinds.add_parser("serve", help="serve a Messages API on this machine", allow_abbrev=False)
    serve.add_argument("--window", type=int, metavar="TOKENS", help="context window of every model")
    proxy = kinds.add_parser("proxy", help="forward to a real API and inject faults", allow_abbrev=False)
    proxy.add_argument("upstream", metavar="URL", help="the API to forward to, such as https://api.anthropic.com")
    mcp = kinds.add_parser("mcp", help="be an MCP server on standard input and output that fails", allow_abbrev=False)
    mcp.add_argument("--fault", choices=FAULTS, default="", help="; ".join(f"{k}: {v}" for k, v in FAULTS.items()))
    for one in (serve, proxy):
        one.add_argument("--script", metavar="SCRIPT", help="a script file, or the name of a built-in one")
        one.add_argument("--faults", type=float, metavar="SHARE", help="share of requests that fail, 0 to 1")
        one.add_argument("--seed", type=int, default=0, metavar="N", help="the same seed fails the same requests")
        one.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1)")
        one.add_argument(
            *("--allow-host",),
            action="append",
            default=[],
            metavar="NAME",
            help="also accept requests to this host name; others are refused, to keep web pages out",
        )
        one.add_argument("--port", type=int, default=0, help="0: any free port")


def _port(text: str) -> int:
    from argparse import ArgumentTypeError

    if text.isdecimal() and len(text) < 6 and int(text) <= 65_535:
        return int(text)
    raise ArgumentTypeError(f"{text!r} is not a number from 0 to 65535")


def _parser(name: str, description: str) -> "ArgumentParser":
    import argparse
    from functools import partial

    class Parser(argparse.ArgumentParser):
        """Reports an error in one line."""

        def error(self, message: str) -> NoReturn:
            self.exit(2, f"{self.prog}: {message}; see `{self.prog} --help`.\n")

    return Parser(
        prog=name,
        description=description,
        allow_abbrev=False,
        formatter_class=partial(argparse.RawDescriptionHelpFormatter, width=_width()),
    )


def _width() -> int:
    """Columns for the help. argparse would import three compression libraries to find out."""
    import os

    try:
        return int(os.environ.get("COLUMNS") or os.get_terminal_size().columns) - 2
    except (ValueError, OSError):
        return 78
