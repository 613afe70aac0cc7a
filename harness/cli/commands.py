"""The commands besides the agent itself: look something up, or serve the practice model or the app."""

import asyncio
import json
import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from harness.settings import Settings, load


def run(command: str, options: Namespace) -> int:
    """Run one of `cli.COMMANDS`; returns the exit code. Raises HarnessError."""
    match command:
        case "learn":
            from harness.ui.lessons.command import learn

            return learn(_settings(options), options)
        case "check":
            from harness.ui.lessons.check import check

            return check(_settings(options), options, sys.stdout)
        case "doctor":
            from harness.cli.doctor import doctor

            return doctor(sys.stdout, workspace=options.cwd, online=options.online)
        case "sessions":
            return _sessions(_settings(options))
        case "export":
            return _export(_settings(options), options)
        case "breakers":
            return _breakers(_settings(options), options)
        case "shot":
            return _shot(_settings(options), options)
        case "watch":
            from harness.cli.view import watch

            return watch(_settings(options), options)
        case "replay":
            from harness.cli.view import replay

            return replay(_settings(options), options)
        case "escape":
            return _experience(_settings(options), options) if options.kind == "stats" else _escape(options)
        case "gate":
            return _gate(_settings(options), options)
        case "transitions":
            from harness.policies.recovery import tables

            print(tables.as_markdown() if options.markdown else tables.as_text())
        case "settings":
            from harness.settings import settings_reference

            print(settings_reference())
        case "practice":
            return asyncio.run(_practice(options))
        case "serve":
            from harness.ui.web.command import serve

            asyncio.run(serve([*_no_trust(options.of_app), *options.of_app], options.port, sys.stdout))
    return 0


def _no_trust(of_app: Sequence[str]) -> tuple[str, ...]:
    """Asks here, where there is a terminal, whether the folder is trusted; the flag that a no amounts to."""
    from harness.cli.parser import agent_parser, flags
    from harness.ui.folder_question import with_answer

    asked = with_answer(flags(agent_parser().parse_args(of_app)), os.environ, sys.stdin, sys.stderr)
    return ("--no-trust-folder",) if asked["trust_folder"] is False else ()


def _settings(options: Namespace) -> Settings:
    return load(
        {"workspace": getattr(options, "cwd", None), "plain": getattr(options, "plain", None) or None}, os.environ
    ).settings


def _sessions(settings: Settings) -> int:
    from harness.journal import session_folder, sessions
    from harness.ui.commands.session_list import session_lines

    found = sessions(session_folder(settings.workspace, settings.state_dir))
    for line in session_lines(found):
        print(line)
    if not found:
        print(f"There is no session for {settings.workspace} yet.", file=sys.stderr)
    return 0


def _breakers(settings: Settings, options: Namespace) -> int:
    from harness.cli.breakers import breaker_lines, session_file
    from harness.journal import session_folder

    path = session_file(options.session, session_folder(settings.workspace, settings.state_dir))
    for line in breaker_lines(path, options.at):
        print(line)
    return 0


def _escape(options: Namespace) -> int:
    from harness.events import LoopChoice, WalkEnd
    from harness.graphs.demo import AnswersAlways, Demo, world_of

    demo = Demo(world_of(options.graph, options.size, options.seed, options.fail_rate), options.seed)
    person = AnswersAlways(LoopChoice(options.person)) if options.person else None
    end = asyncio.run(demo.run(most_steps=options.steps, person=person))
    for line in demo.as_json() if options.json else demo.as_text():
        print(line)
    return 0 if end is WalkEnd.GOAL else 3


def _experience(settings: Settings, options: Namespace) -> int:
    from harness.settings.loop_experience_file import as_json, experience_file, table

    file = experience_file(settings)
    if options.forget:
        print(f"Removed: {file.path}" if file.forget() else f"There is nothing to forget: no {file.path}")
    elif options.json:
        print(json.dumps(as_json(file)))
    elif (known := file.read()).tallies:
        print(*table(known), f"kept in {file.path}; --forget removes it", sep="\n")
    else:
        print(f"No agent has been freed of a loop in {settings.workspace} yet; it would stand in {file.path}")
    return 0


def _gate(settings: Settings, options: Namespace) -> int:
    from harness.cli.slots import as_json, slots_status, status_lines

    status = slots_status(settings)
    print(json.dumps(as_json(status)) if options.json else "\n".join(status_lines(status)))
    return 0


def _export(settings: Settings, options: Namespace) -> int:
    from harness.engine.config import secrets_of
    from harness.journal import find, read, session_folder
    from harness.journal.export import as_json, markdown, save

    path = find(session_folder(settings.workspace, settings.state_dir), options.id)
    write = markdown if options.format == "markdown" else as_json
    text = write(read(path).records, secrets_of(settings, os.environ))
    if options.output is None:
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        save(text, Path(options.output))
    return 0


def _shot(settings: Settings, options: Namespace) -> int:
    from harness.cli.breakers import session_file
    from harness.engine.config import secrets_of
    from harness.journal import session_folder
    from harness.journal.export import save, without_secrets
    from harness.journal.moments import moment_of
    from harness.ui.app.snapshot import picture, size_of

    columns, rows = size_of(options.size)
    path = session_file(options.session, session_folder(settings.workspace, settings.state_dir))
    secrets = secrets_of(settings, os.environ)
    records = without_secrets(moment_of(path, step=options.at, seq=options.seq), secrets)
    drawing = picture(records, path.stem, columns=columns, rows=rows, theme=options.theme, panel_only=options.panel)
    save(asyncio.run(drawing), Path(options.output))
    print(f"Written to {options.output}")
    return 0


async def _practice(options: Namespace) -> int:
    from harness.practice.service import proxy, serve
    from harness.ui.signals import heeding

    with heeding() as signalled:
        try:
            if options.kind == "serve":
                from harness.model.tokens import TokenCounter
                from harness.practice.improviser import Improviser

                counter = TokenCounter()
                await asyncio.to_thread(counter.load)
                await serve(
                    Improviser(),
                    sys.stdout,
                    host=options.host,
                    port=options.port,
                    script=options.script,
                    window=options.window,
                    probability=options.faults,
                    seed=options.seed,
                    allowed_hosts=options.allow_host,
                    tokens=counter,
                )
            else:
                await proxy(
                    options.upstream,
                    sys.stdout,
                    host=options.host,
                    port=options.port,
                    script=options.script,
                    probability=options.faults,
                    seed=options.seed,
                    allowed_hosts=options.allow_host,
                )
        except asyncio.CancelledError:
            if not signalled.number:
                raise
    return 0  # a server has no other end than a signal
