"""The flags and arguments of `harness` and of each of its commands."""

from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

COMMANDS = {
    "learn": "the course: step through a harness, chapter by chapter",
    "check": "check an exercise of the course, or show a hint for it",
    "doctor": "what is set, from where, and what will happen",
    "sessions": "list the sessions of this folder",
    "breakers": "how the tools of a session were, at its end or at any step",
    "watch": "see what a session does that runs in another terminal",
    "replay": "see a recorded session again",
    "export": "write a session as Markdown or JSON",
    "shot": "a picture of a session at any moment, as an SVG file",
    "escape": "a simulated agent that goes in circles, and what real ones have taught",
    "gate": "who runs and who waits in all your sessions on this machine",
    "transitions": "print why the loop goes round or ends, and what answers each fault",
    "settings": "every setting: what fits, its default, its variables",
    "practice": "serve the practice model, or put faults before a real one",
    "serve": "the app in a browser on this machine",
}


def flags(namespace: "Namespace") -> dict[str, object]:
    """The flags as settings; None: not given."""
    return {
        "model": namespace.model,
        "fallback_models": namespace.fallback_model,
        "endpoint": namespace.endpoint,
        "max_turns": namespace.max_turns,
        "max_tokens": namespace.max_tokens,
        "max_wait_s": namespace.max_wait,
        "max_concurrent": namespace.max_concurrent,
        "max_queue_size": namespace.max_queue_size,
        "max_budget_usd": namespace.max_budget_usd,
        "effort": namespace.effort,
        "permission_mode": "yolo" if namespace.yolo else None,
        "plain": namespace.plain or None,
        "debug": namespace.debug or None,
        "workspace": namespace.cwd,
        "practice": True if namespace.practice == "" else None,
        "practice_script": namespace.practice or None,
        "tool_faults": namespace.tool_faults,
        "trust_folder": namespace.trust_folder,
    }


def agent_parser() -> "ArgumentParser":
    """The flags of `harness` itself."""
    parser = _parser("harness", "An agent that works in this folder. Without -p it talks with you in the terminal.")
    parser.usage = "harness [flags] [PROMPT]\n       harness -p [PROMPT] [flags]\n       harness COMMAND …"
    add = parser.add_argument
    add("prompt", nargs="?", metavar="PROMPT", help="what to begin with")
    add(
        *("-p", "--print", "--prompt"),
        nargs="?",
        const="",
        metavar="PROMPT",
        help="answer on standard output and end; piped standard input is added to the prompt",
        dest="print",
    )
    add("--output-format", choices=("text", "json", "stream-json"), help="with -p: what standard output holds")
    add("--json-schema", metavar="FILE", help="with -p: the answer is JSON that fits the schema in FILE")
    add("-m", "--model", metavar="NAME", help="the model that answers")
    add(
        "--fallback-model",
        action="append",
        metavar="NAME",
        help="a model to turn to when it is overloaded or declines; up to 3",
    )
    add("--endpoint", metavar="NAME", help="who serves the model: anthropic, bedrock, vertex or foundry")
    add("--effort", metavar="LEVEL", help="how much the model thinks: low, medium, high, xhigh or max")
    add("-c", "--continue", action="store_true", dest="go_on", help="go on with the latest session of this folder")
    add("-r", "--resume", nargs="?", const="", metavar="ID", help="go on with a session; without ID: choose one")
    add("--fork-session", action="store_true", help="with -c or -r: go on in a copy")
    add("-y", "--yolo", action="store_true", help="allow every tool call without asking")
    add("--max-turns", metavar="N", help="end after N replies of the model")
    add("--max-tokens", metavar="N", help="output tokens of one reply")
    add("--max-budget-usd", metavar="DOLLARS", help="refuse requests when this is spent")
    add("--max-wait", metavar="SECONDS", help="with -p: the longest wait a server may ask for (0)")
    add("--max-concurrent", metavar="N", help="agents that work at the same time, in all your sessions (5; 0: none)")
    add("--max-queue-size", metavar="N", help="agents that wait for their turn (20; 0: none)")
    add("--cwd", metavar="FOLDER", help="the folder to work in")
    add("--practice", nargs="?", const="", metavar="SCRIPT", help="the built-in model that needs no key answers")
    add("--tool-faults", metavar="FILE", help="tools fail as the file says, to watch the breakers")
    trust = parser.add_mutually_exclusive_group()
    trust.add_argument("--trust-folder", action="store_true", default=None, help="use what its files set, unasked")
    trust.add_argument("--no-trust-folder", action="store_false", dest="trust_folder", help="leave that out, unasked")
    add("--plain", action="store_true", help="lines only, for screen readers and plain terminals")
    add("-d", "--debug", action="store_true", help="write a log with tracebacks; its path is shown")
    add("-v", "--version", action="store_true", help="print the version")
    commands = "\n".join(f"  {name:<12} {text}" for name, text in COMMANDS.items())
    codes = "0 answered, 1 failed, 2 bad usage, 3 stopped by a limit, 130 interrupted"
    parser.epilog = f"commands:\n{commands}\n\nexit codes: {codes}"
    return parser


def command_parser(command: str) -> "ArgumentParser":
    """The flags of a command."""
    parser = _parser(f"harness {command}", COMMANDS[command][:1].upper() + COMMANDS[command][1:] + ".")
    add = parser.add_argument
    match command:
        case "learn":
            _learn(parser)
        case "check":
            _check(parser)
        case "doctor":
            add("--online", action="store_true", help="also ask the server for its models")
            add("--cwd", metavar="FOLDER", help="the folder to look at")
        case "sessions":
            add("--cwd", metavar="FOLDER", help="the folder whose sessions are meant")
        case "export":
            add("id", metavar="ID", help='id of a session, its beginning, or "latest"')
            add("--format", choices=("markdown", "json"), default="markdown")
            add("-o", "--output", metavar="FILE", help="write to a file instead of standard output")
            add("--cwd", metavar="FOLDER", help="the folder whose sessions are meant")
        case "breakers":
            add("session", metavar="SESSION", nargs="?", default="latest", help="id, its beginning, or a journal file")
            add("--at", type=int, metavar="N", help="how they were at the end of step N")
            add("--cwd", metavar="FOLDER", help="the folder whose sessions are meant")
        case "shot":
            add("session", metavar="SESSION", nargs="?", default="latest", help="id, its beginning, or a journal file")
            moment = parser.add_mutually_exclusive_group()
            moment.add_argument("--at", type=int, metavar="N", help="as it was at the end of step N")
            moment.add_argument("--seq", type=int, metavar="N", help="as it was after record N of the journal")
            add("-o", "--output", metavar="FILE", required=True, help="the SVG file")
            add("--size", default="120x36", metavar="COLUMNSxROWS", help="120x36 unless said otherwise")
            add("--panel", action="store_true", help="the panel alone, without the conversation")
            add("--theme", default="", metavar="NAME", help="other colours; /theme lists them")
            add("--cwd", metavar="FOLDER", help="the folder whose sessions are meant")
        case "watch":
            add("session", metavar="SESSION", nargs="?", help="id, its beginning, or a journal file (the running one)")
            add("--output-format", choices=("text", "stream-json"), default="text", help="stream-json: a line a record")
            add("--plain", action="store_true", help="lines only, for screen readers and plain terminals")
            add("--cwd", metavar="FOLDER", help="the folder whose sessions are meant")
        case "replay":
            add("session", metavar="SESSION", nargs="?", default="latest", help="id, its beginning, or a journal file")
            add("--speed", type=float, default=1.0, metavar="N", help="0.25 to 32 times as fast; 0: without pauses")
            add("--from", type=int, dest="step", metavar="STEP", help="begin with this step")
            add("--plain", action="store_true", help="lines only, for screen readers and plain terminals")
            add("--cwd", metavar="FOLDER", help="the folder whose sessions are meant")
        case "transitions":
            add("--markdown", action="store_true", help="as Markdown tables")
        case "escape":
            _escape(parser)
        case "gate":
            _gate(parser)
        case "practice":
            _practice(parser)
        case "serve":
            parser.usage = "harness serve [--port N] [flags of harness] [PROMPT]"
            add("--port", type=_port, default=0, metavar="N", help="0: any free one")
    return parser


def _learn(parser: "ArgumentParser") -> None:
    add = parser.add_argument
    add("lesson", metavar="sNN", nargs="?", help="a chapter: s11, 11 or s11_error_recovery")
    add("--list", action="store_true", help="all chapters, and how far you are")
    add("--auto", action="store_true", help="go through a chapter without waiting, and print everything")
    add("--plain", action="store_true", help="lines only, for screen readers and plain terminals")
    add("--language", choices=("en", "ja"), help="English or Japanese; it is kept")
    add("--restart", action="store_true", help="begin the chapter at its beginning")
    add("--exercise", nargs="?", const="", metavar="NAME", help="copy its exercise to where you are; no NAME: all")


def _practice(parser: "ArgumentParser") -> None:
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="serve|proxy", parser_class=type(parser))
    serve = kinds.add_parser("serve", help="a Messages API on this machine", allow_abbrev=False)
    serve.add_argument("--window", type=int, metavar="TOKENS", help="context window of every model")
    proxy = kinds.add_parser("proxy", help="faults between you and a real one", allow_abbrev=False)
    proxy.add_argument("upstream", metavar="URL", help="where the requests go, such as https://api.anthropic.com")
    for one in (serve, proxy):
        one.add_argument("--script", metavar="SCRIPT", help="a script file, or the name of a shipped one")
        one.add_argument("--faults", type=float, metavar="SHARE", help="share of the requests that fail, 0 to 1")
        one.add_argument("--seed", type=int, default=0, metavar="N", help="the same seed fails the same requests")
        one.add_argument("--host", default="127.0.0.1", help="the address to listen at (127.0.0.1)")
        one.add_argument(
            *("--allow-host",),
            action="append",
            default=[],
            metavar="NAME",
            help="a name by which clients reach it; others are refused, so that web pages cannot use it",
        )
        one.add_argument("--port", type=int, default=0, help="0: any free one")


def _check(parser: "ArgumentParser") -> None:
    add = parser.add_argument
    add("folder", metavar="FOLDER", nargs="?", help="the exercise; otherwise the one here, or all that were begun")
    add("--hint", action="store_true", help="show the next hint, and check nothing")
    add("--language", choices=("en", "ja"), help="otherwise the one that the exercise was begun in")
    add("--json", action="store_true", help="the same as JSON")
    parser.epilog = "exit codes: 0 everything passes, 1 something fails, 2 bad usage"


def _gate(parser: "ArgumentParser") -> None:
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="status", parser_class=type(parser))
    status = kinds.add_parser("status", help="each agent with a slot or in the queue", allow_abbrev=False)
    status.add_argument("--json", action="store_true", help="the same as JSON")
    status.add_argument("--cwd", metavar="FOLDER", help="the folder whose settings are meant")


def _escape(parser: "ArgumentParser") -> None:
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="demo|stats", parser_class=type(parser))
    demo = kinds.add_parser("demo", help="walk over a graph with tools that fail at random", allow_abbrev=False)
    demo.epilog = "exit codes: 0 at the goal, 3 stopped before it"
    add = demo.add_argument
    add("--seed", type=int, default=0, metavar="N", help="the same seed gives the same walk (0)")
    add("--fail-rate", type=_share, metavar="P", help="how often every tool fails, 0 to 1; each its own rate otherwise")
    add("--graph", choices=("ring", "random"), default="ring", help="the ring of five places, or one drawn at random")
    add("--size", type=_whole(3, 1_000), default=20, metavar="N", help="places of a random graph, 3 to 1000 (20)")
    add("--steps", type=_whole(0, 100_000), default=100, metavar="N", help="end after N steps (100)")
    add(
        "--person",
        choices=("continue", "off", "roll_back", "stop"),
        metavar="ANSWER",
        help="what a person answers who is asked: continue, off, roll_back, stop; nobody is there otherwise",
    )
    add("--json", action="store_true", help="a line of JSON for each event")
    stats = kinds.add_parser("stats", help="which step has freed agents of this folder", allow_abbrev=False)
    stats.add_argument("--json", action="store_true", help="the same as JSON")
    stats.add_argument("--forget", action="store_true", help="remove what was learnt")
    stats.add_argument("--cwd", metavar="FOLDER", help="the folder that is meant")


def _share(text: str) -> float:
    from argparse import ArgumentTypeError

    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if 0 <= share <= 1:
        return share
    raise ArgumentTypeError(f"{text!r} is no share; 0 to 1 is")


def _whole(least: int, most: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        from argparse import ArgumentTypeError

        if text.isdecimal() and len(text) < 10 and least <= int(text) <= most:
            return int(text)
        raise ArgumentTypeError(f"{text!r} does not fit; {least} to {most} do")

    return number


def _port(text: str) -> int:
    if text.isdecimal() and int(text) <= 65_535:
        return int(text)
    from argparse import ArgumentTypeError

    raise ArgumentTypeError(f"{text!r} is no port; 0 to 65535 are")


def _parser(name: str, description: str) -> "ArgumentParser":
    import argparse
    from functools import partial

    class Parser(argparse.ArgumentParser):
        """Says what is wrong in one sentence."""

        def error(self, message: str) -> NoReturn:
            self.exit(2, f"{self.prog}: {message}; `{self.prog} --help` lists what fits.\n")

    return Parser(
        prog=name,
        description=description,
        allow_abbrev=False,
        formatter_class=partial(argparse.RawDescriptionHelpFormatter, width=_width()),
    )


def _width() -> int:
    """Columns for the help. Asked for here, because argparse would import three compression libraries for it."""
    import os

    try:
        return int(os.environ.get("COLUMNS") or os.get_terminal_size().columns) - 2
    except (ValueError, OSError):
        return 78
