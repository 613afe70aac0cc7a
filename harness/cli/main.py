"""The entry point: parse the command line, run the command, print every error as one sentence.

Imports only light modules, so that `--version` and `--help` are instant. The subcommands are in `harness.cli.commands`,
the front ends in `harness.ui`.

Exit codes: 0 answered, 1 failed with a reason, 2 bad usage, 3 stopped by a limit, a budget or a loop, 4 answered, but
a tool call was not allowed, 130 interrupted, 128 + N after signal N.
"""

import io
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from harness.cli.parser import COMMANDS, agent_parser, command_parser, flags, run_options

if TYPE_CHECKING:
    from argparse import Namespace


ALSO_CALLED = {
    "help": "--help",
    "version": "--version",
    "resume": "--resume",
    "continue": "--continue",
    "list": "sessions",
    "history": "sessions",
    "config": "settings",
    "status": "doctor",
    "login": "doctor",
    "course": "learn",
}
"""Commands that people expect under another name."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    _reopen_closed_streams()
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # an odd character must not end an answer
    try:
        try:
            return _run(arguments)
        finally:
            sys.stdout.flush()  # here, where a failure can still be reported
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return _broken_pipe()
    except Exception as error:  # noqa: BLE001 (the user gets one sentence, the log the traceback)
        if isinstance(error, OSError) and error.filename is None and _output_lost():
            return _lost(error)
        return _failed(error, debug=bool({"-d", "--debug"} & set(arguments)))


def _run(arguments: list[str]) -> int:
    if arguments in (["--version"], ["-v"]):
        from harness.base.version import __version__

        print("harness", __version__)
        return 0
    if arguments[:1] == ["completion"]:
        from harness.cli.completion import completion

        return completion(arguments[1:])
    if arguments and (command := arguments[0]) in COMMANDS:
        rest = arguments[1:]
        match command:
            case "serve":
                namespace = _serving(rest)
            case "acp":
                of_agent = command_parser(command).parse_known_args(rest)[1]
                namespace = _without_prompt(command, of_agent, "; the editor names them")
            case "run":
                namespace = _running(rest)
            case "mcp" if rest[:1] == ["serve"]:
                namespace = _serving_tools(rest[1:])
            case _:
                namespace = command_parser(command).parse_args(rest)
        from harness.cli import commands

        return commands.run(command, namespace)
    words = arguments[: next((at for at, one in enumerate(arguments) if one[:1] in ("", "-")), len(arguments))]
    if words:
        prints = not {"-p", "--print", "--prompt"}.isdisjoint(arguments)
        _refuse_unknown_command(words, alone=len(words) == 1 and not prints)
    if len(words) > 1:
        _refuse(f"The prompt is in several parts; put it in quotes: {_quoted(words)}.")
    namespace = agent_parser().parse_args(arguments)
    if namespace.prompt and namespace.print is None and "--" not in arguments:
        _refuse_unknown_command([namespace.prompt], alone=True)
    from harness.ui.start import start

    return start(namespace, flags(namespace))


def _serving(arguments: list[str]) -> "Namespace":
    """Parse the flags of `serve` and those of the app, so that mistakes show before a browser opens."""
    parser = command_parser("serve")
    namespace, of_app = parser.parse_known_args(arguments)
    if "--" in of_app:  # between our flags and those of the app
        of_app.remove("--")
    namespace.of_app = of_app
    app = agent_parser().parse_args(namespace.of_app)
    if app.print is not None or app.plain or app.version:
        parser.error("-p, --plain and --version cannot be used with serve")
    return namespace


def _running(arguments: list[str]) -> "Namespace":
    """The flags of `run` are those of harness, with some of its own."""
    namespace = run_options(arguments)
    alone = (namespace.print, namespace.json_schema, namespace.input_format)
    if any(one is not None for one in alone) or namespace.go_on or namespace.fork_session:
        _refuse("harness run takes no prompt and none of -p, -c, --fork-session, --json-schema and --input-format.")
    if (namespace.goal is None) is (namespace.script is None):
        _refuse("harness run takes a plan script or --goal TEXT, and not both.")
    if namespace.goal is None and namespace.members is not None:
        _refuse("--members is for harness run --goal TEXT; a script starts its own agents.")
    return namespace


def _serving_tools(arguments: list[str]) -> "Namespace":
    """The flags of `mcp serve` are those of harness, with two of its own."""
    own, of_agent = command_parser("mcp").parse_known_args(["serve", *arguments])
    namespace = _without_prompt("mcp serve", of_agent)
    namespace.kind, namespace.port = own.kind, own.port
    return namespace


def _without_prompt(command: str, arguments: list[str], why: str = "") -> "Namespace":
    """Parse the flags of harness for a command whose clients bring prompts and sessions."""
    namespace = agent_parser().parse_args(arguments)
    if namespace.prompt or namespace.print is not None or namespace.resume is not None or namespace.go_on:
        _refuse(f"harness {command} takes no prompt and no session{why}.")
    return namespace


def _refuse_unknown_command(words: Sequence[str], *, alone: bool) -> None:
    """A single bare word is a command, not a prompt. `alone`: no other words follow; else only a near miss is one."""
    word = words[0]
    if not (word.isascii() and word.replace("-", "").isalpha()):
        return
    from difflib import get_close_matches

    near = ALSO_CALLED.get(word.lower()) or next(
        iter(get_close_matches(word.lower(), COMMANDS, n=1, cutoff=0.75)), None
    )
    as_prompt = f"`{_quoted(words) if len(words) > 1 else f'harness -- {word}'}` takes it as a prompt"
    if near:
        _refuse(f"Unknown command {word!r}; did you mean `harness {near}`? ({as_prompt}.)")
    if alone:
        _refuse(f"Unknown command {word!r}; `harness --help` lists the commands, and {as_prompt}.")


def _quoted(words: Sequence[str]) -> str:
    return f'harness "{" ".join(words)}"'


def _refuse(problem: str) -> NoReturn:
    from harness.base.errors import SettingsError

    raise SettingsError(problem)


def _failed(error: Exception, *, debug: bool) -> int:
    from harness.base.errors import HarnessError

    if isinstance(error, HarnessError):
        if isinstance(error.__cause__, OSError):
            _discard_lost_output()
        print(f"harness: {error}", file=sys.stderr)
        return error.exit_code
    import logging

    log = logging.getLogger("harness")
    if log.hasHandlers():  # before the settings are read there is none, and Python would write to standard error
        log.error("internal error", exc_info=error)
    remedy = "see the log" if debug else "run again with --debug"
    print(f"harness: internal error ({type(error).__name__}: {error}); {remedy}.", file=sys.stderr)
    return 1


def _reopen_closed_streams() -> None:
    """Open the null device for closed standard streams, before another file gets their numbers.

    Standard output stays unwritable, so that a lost answer is not a success.
    """
    import os

    for name, flag, mode in (("stdin", os.O_RDONLY, "r"), ("stdout", os.O_RDONLY, "w"), ("stderr", os.O_WRONLY, "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, flag), mode, encoding="utf-8"))


def _output_lost() -> bool:
    """Whether standard output cannot be written. Prints a blank line to find out."""
    try:
        sys.stdout.write("\n")
        sys.stdout.flush()
    except OSError:
        return True
    return False


def _lost(error: OSError) -> int:
    _discard_output()
    print(f"harness: cannot write to standard output: {error.strerror}.", file=sys.stderr)
    return 1


def _discard_lost_output() -> None:
    try:
        sys.stdout.flush()
    except OSError:
        _discard_output()


def _discard_output() -> None:
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _broken_pipe() -> int:
    _discard_output()
    return 141
