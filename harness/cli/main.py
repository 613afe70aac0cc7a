"""The command line: what was asked for, and the border where every error becomes one sentence.

Only light modules are imported here; `--version` and `--help` need nothing else. What a command does
stands in `harness.cli.commands`, the front ends in `harness.ui`.

Exit codes: 0 answered, 1 failed with a reason, 2 bad usage, 3 stopped by a limit, a budget or a loop,
130 interrupted; 128 and its number after another signal.
"""

import io
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.cli.parser import COMMANDS, agent_parser, command_parser, flags

if TYPE_CHECKING:
    from argparse import Namespace


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    _open_what_was_closed()
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # an odd character must not end an answer
    try:
        try:
            return _run(arguments)
        finally:
            sys.stdout.flush()  # here, where it can still be said that the output is lost
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return _nobody_reads()
    except Exception as error:  # noqa: BLE001 (the border: a person gets one sentence, the log gets the traceback)
        if isinstance(error, OSError) and error.filename is None and _output_lost():
            return _lost(error)
        return _failed(error, debug=bool({"-d", "--debug"} & set(arguments)))


def _run(arguments: list[str]) -> int:
    if arguments in (["--version"], ["-v"]):
        from harness import __version__

        print("harness", __version__)
        return 0
    if arguments and arguments[0] in COMMANDS:
        command, rest = arguments[0], arguments[1:]
        namespace = _serving(rest) if command == "serve" else command_parser(command).parse_args(rest)
        from harness.cli import commands

        return commands.run(command, namespace)
    namespace = agent_parser().parse_args(arguments)
    if namespace.prompt and namespace.print is None:
        _refuse_misspelt_command(namespace.prompt)
    from harness.ui.start import start

    return start(namespace, flags(namespace))


def _serving(arguments: list[str]) -> "Namespace":
    """Flags of `serve`, and those of the app, which are checked here, before a browser is opened."""
    parser = command_parser("serve")
    namespace, of_app = parser.parse_known_args(arguments)
    namespace.of_app = [argument for number, argument in enumerate(of_app) if (number, argument) != (0, "--")]
    app = agent_parser().parse_args(namespace.of_app)
    if app.print is not None or app.plain or app.version:
        parser.error("-p, --plain and --version have no screen to show in a browser")
    return namespace


def _refuse_misspelt_command(prompt: str) -> None:
    from difflib import get_close_matches

    near = get_close_matches(prompt, COMMANDS, n=1, cutoff=0.75)
    if near:
        from harness.base.errors import SettingsError

        raise SettingsError(f"There is no command {prompt!r}; did you mean `harness {near[0]}`?")


def _failed(error: Exception, *, debug: bool) -> int:
    from harness.base.errors import HarnessError

    if isinstance(error, HarnessError):
        if isinstance(error.__cause__, OSError):
            _throw_away_output_that_is_lost()
        print(f"harness: {error}", file=sys.stderr)
        return error.exit_code
    import logging

    log = logging.getLogger("harness")
    if log.hasHandlers():  # before the settings are read there is no log, and Python would write to standard error
        log.error("the program failed", exc_info=error)
    remedy = "the log has the details" if debug else "run it again with --debug"
    print(f"harness: something in the program failed ({type(error).__name__}: {error}); {remedy}.", file=sys.stderr)
    return 1


def _open_what_was_closed() -> None:
    """Put nothing in the place of standard streams that were closed, before a file of ours gets their numbers.

    Standard output cannot be written then, as before, so that an answer which goes nowhere is no success.
    """
    import os

    for name, flag, mode in (("stdin", os.O_RDONLY, "r"), ("stdout", os.O_RDONLY, "w"), ("stderr", os.O_WRONLY, "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, flag), mode, encoding="utf-8"))


def _output_lost() -> bool:
    """Whether standard output takes nothing more. It was found so, or the program ends by an error: a blank line more
    does no harm."""
    try:
        sys.stdout.write("\n")
        sys.stdout.flush()
    except OSError:
        return True
    return False


def _lost(error: OSError) -> int:
    """What was to be read is lost, and that is not a success."""
    _throw_away_output()
    print(f"harness: Standard output cannot be written: {error.strerror}.", file=sys.stderr)
    return 1


def _throw_away_output_that_is_lost() -> None:
    try:
        sys.stdout.flush()
    except OSError:
        _throw_away_output()


def _throw_away_output() -> None:
    """Write what is left to nowhere, so that the flush at exit does not fail again."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _nobody_reads() -> int:
    """Whoever read our output has gone, as `head` does; that is nothing to complain about."""
    _throw_away_output()
    return 141
