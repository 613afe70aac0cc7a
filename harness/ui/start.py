"""Chooses and runs a front end.

The screen paints before heavy imports, so each front end reads the settings itself.
"""

import asyncio
import os
import sys
from argparse import Namespace
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from harness.base.collector import imports_kept
from harness.ui.folder_question import with_answer
from harness.ui.screen_choice import screen_wanted

if TYPE_CHECKING:
    import logging

    from harness.session import Opening
    from harness.settings import LoadedSettings, Settings


def start(options: Namespace, flags: Mapping[str, object]) -> int:
    """Run a front end; returns the exit code. Raises HarnessError."""
    if options.version:
        from harness.base.version import __version__

        print("harness", __version__)
        return 0
    if options.reopen is not None:
        options.resume, options.go_on, options.fork_session, options.prompt = options.reopen or None, False, False, None
    if options.input_format == "stream-json":
        options.print = options.print or ""
    _check(options)
    if options.print is None:
        flags = with_answer(flags, os.environ, sys.stdin, sys.stderr)
    if options.print is None and screen_wanted(options.plain, os.environ, (sys.stdin, sys.stdout, sys.stderr)):
        with imports_kept():
            from harness.ui.app.app import HarnessApp
            from harness.ui.app.run import PlainRequested, converse

        app_type = HarnessApp
        if options.inline:
            from harness.ui.inline.app import InlineApp

            app_type = InlineApp
        try:
            return converse(options, flags, sys.stderr, app_type)
        except PlainRequested:
            return _in_lines(options, flags)
    return _in_lines(options, flags)


def _in_lines(options: Namespace, flags: Mapping[str, object]) -> int:
    with imports_kept():
        from harness.settings import current_folder, load
        from harness.settings.logs import open_log

    here = current_folder()
    loaded = load(flags, os.environ, here).require_answer()
    log = open_log(loaded.settings, sys.stderr)
    reread = partial(_settings, flags, here)
    run = _plain if options.print is None else _program if options.input_format == "stream-json" else _headless
    return run(options, loaded, reread, log)


def _settings(flags: Mapping[str, object], here: Path) -> "Settings":
    from harness.settings import load

    return load(flags, os.environ, here).settings


def _check(options: Namespace) -> None:
    if problem := _problem(options):
        from harness.base.errors import SettingsError

        raise SettingsError(problem)


def _problem(options: Namespace) -> str:
    if options.print is None and options.output_format is not None:
        return "--output-format needs -p."
    if options.print is None and options.json_schema is not None:
        return "--json-schema needs -p."
    if options.idempotency_key is not None:
        if options.print is None or options.resume is None or options.fork_session or options.input_format is not None:
            return "--idempotency-key needs -p and --resume ID, without --fork-session and --input-format."
        if not options.idempotency_key.strip():
            return "--idempotency-key needs a text, the same for each call that asks for the same."
    if options.input_format == "stream-json":
        if options.print or options.prompt or options.json_schema is not None:
            return "--input-format stream-json reads prompts from standard input; give no prompt and no --json-schema."
        if options.output_format not in (None, "stream-json"):
            return "--input-format stream-json needs --output-format stream-json."
    elif options.permission_prompt_tool or options.include_partial_messages or options.replay_user_messages:
        flags = "--permission-prompt-tool, --include-partial-messages and --replay-user-messages"
        return f"{flags} need --input-format stream-json."
    if options.print and options.prompt:
        return "Two prompts were given, one after -p and another; give one, in quotes."
    if options.go_on and options.resume:
        return "--continue and --resume ID name different sessions; give one of them."
    if options.carry_changes and options.worktree is None:
        return "--carry-changes takes your changes into a new worktree; add --worktree NAME."
    if options.fork_session and not options.go_on and options.resume is None:
        return "--fork-session needs a session; add --continue or --resume ID."
    if options.print is not None and options.resume == "":
        return "--resume with -p needs a session id; `harness sessions` lists them."
    return ""


def _headless(options: Namespace, loaded: "LoadedSettings", reread: "partial[Settings]", log: "logging.Logger") -> int:
    with imports_kept():
        from harness.ui.plain.headless import OutputFormat, headless
        from harness.ui.plain.streams import prompt_from

    schema, piped = None, True
    if options.json_schema is not None:
        from harness.session.answer_schema import STANDARD_INPUT, AnswerSchema

        schema = AnswerSchema.load(options.json_schema)
        piped = options.json_schema not in STANDARD_INPUT
    prompt = prompt_from(options.print or options.prompt or "", sys.stdin if piped else None, sys.stderr)
    opening = _opening(options, loaded)
    form, key = OutputFormat(options.output_format or "text"), options.idempotency_key or ""
    return asyncio.run(
        headless(loaded, prompt, opening, form, sys.stdout, sys.stderr, schema=schema, key=key, reread=reread, log=log)
    )


def _program(options: Namespace, loaded: "LoadedSettings", reread: "partial[Settings]", log: "logging.Logger") -> int:
    with imports_kept():
        from harness.ui.programs.driver import ProgramOptions, Start, serve_program
        from harness.ui.programs.lines import lines_of

    chosen = ProgramOptions(
        asks=options.permission_prompt_tool == "stdio",
        partial=options.include_partial_messages,
        replays=options.replay_user_messages,
    )
    lines, streams = lines_of(sys.stdin.fileno()), (sys.stdout, sys.stderr)
    begun = Start(loaded, _opening(options, loaded), reread)
    return asyncio.run(serve_program(begun, chosen, lines, streams, log))


def _opening(options: Namespace, loaded: "LoadedSettings") -> "Opening":
    from harness.session import Opening

    mode = loaded.settings.permission_mode if options.permission_mode else ""
    resume = "latest" if options.go_on else options.resume
    return Opening(resume, options.fork_session, mode, worktree=options.worktree, carry=options.carry_changes)


def _plain(options: Namespace, loaded: "LoadedSettings", reread: "partial[Settings]", log: "logging.Logger") -> int:
    with imports_kept():
        from harness.session import Opening
        from harness.ui.plain.repl import repl

    resume = "latest" if options.go_on else options.resume
    opening = Opening(resume, options.fork_session, worktree=options.worktree, carry=options.carry_changes)
    return repl(loaded, opening, options.prompt, sys.stdin, sys.stdout, reread=reread, log=log)
