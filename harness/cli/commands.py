"""The subcommands of `harness`, from their flags to the exit code. Each imports what it needs."""

import asyncio
import json
import os
import shlex
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from harness.journal.records import records_until
from harness.settings import Settings, load


def run(command: str, options: Namespace) -> int:
    """Run one of `parser.COMMANDS`; returns the exit code. Raises HarnessError."""
    match command:
        case "learn":
            from chapters.course.learn import learn

            return learn(_settings(options), options)
        case "check":
            from chapters.course.checks.command import check

            return check(_settings(options), options, sys.stdout)
        case "doctor":
            from harness.cli.doctor import doctor

            return doctor(sys.stdout, workspace=options.cwd, online=options.online)
        case "sessions":
            return _sessions(_settings(options), options.text)
        case "export" | "breakers" | "shot" | "watch" | "replay":
            return _recorded(command, _settings(options), options)
        case "run":
            if options.goal is not None:
                from harness.cli.goal import run_goal

                return run_goal(options)
            from harness.cli.run import run_plan

            return run_plan(options, options.script, tuple(options.arguments))
        case "cron":
            from harness.cli.cron import cron

            return cron(_settings(options), options)
        case "fleet":
            from harness.cli.fleet import fleet

            return fleet(_settings(options), options)
        case "mcp":
            return _mcp(options)
        case "worktree":
            from harness.cli.worktree import worktree

            return worktree(_settings(options), options)
        case "tasks":
            from harness.cli.tasks import tasks

            return tasks(_settings(options), options)
        case "admission":
            return _admission(_settings(options), options)
        case "transitions":
            from harness.policies.recovery import tables

            print(tables.as_markdown() if options.markdown else tables.as_text())
        case "settings":
            from harness.settings import settings_reference

            print(settings_reference())
        case "practice":
            return _practice(options)
        case "acp":
            return _acp(options)
        case "serve":
            from harness.ui.web.command import serve

            asyncio.run(serve([*_no_trust(options.of_app), *options.of_app], options.port, sys.stdout, sys.stderr))
    return 0


def _recorded(command: str, settings: Settings, options: Namespace) -> int:
    """Run a subcommand that reads the journal of a session."""
    match command:
        case "export":
            return _export(settings, options)
        case "breakers":
            return _breakers(settings, options)
        case "shot":
            return _shot(settings, options)
        case "watch":
            return _watch(settings, options)
        case _:
            return _replay(settings, options)


def _acp(options: Namespace) -> int:
    from harness.cli.parser import flags
    from harness.settings.logs import open_log
    from harness.ui.acp.agent import serve_editor

    given = flags(options)
    return asyncio.run(serve_editor(given, open_log(load(given, os.environ).settings, sys.stderr)))


def _mcp(options: Namespace) -> int:
    if options.kind == "serve":
        return _mcp_serve(options)
    from harness.cli.mcp import mcp

    return mcp(_settings(options), options)


def _mcp_serve(options: Namespace) -> int:
    from harness.cli.parser import flags
    from harness.tasks.places import DEFAULT
    from harness.ui.mcp_server import serve_tools

    loaded = load(given := flags(options), os.environ)
    if loaded.origins.get("board") == "default":
        loaded = load({**given, "board": DEFAULT}, os.environ)  # the one that `harness tasks` shows
    return asyncio.run(serve_tools(loaded, options.port))


def _no_trust(of_app: Sequence[str]) -> tuple[str, ...]:
    from harness.cli.parser import agent_parser, flags
    from harness.ui.folder_question import with_answer

    asked = with_answer(flags(agent_parser().parse_args(of_app)), os.environ, sys.stdin, sys.stderr)
    return ("--no-trust-folder",) if asked["trust_folder"] is False else ()


def _settings(options: Namespace) -> Settings:
    flags = {name: getattr(options, name, None) or None for name in ("plain", "model")}
    return load({"workspace": getattr(options, "cwd", None), **flags}, os.environ).settings


def _sessions(settings: Settings, text: str | None) -> int:
    from harness.journal import search, sessions
    from harness.ui.lines.sessions import hit_lines, session_lines

    found = sessions(_folder(settings))
    if text is not None:
        any_hit = False
        for line in hit_lines(search(found, text)):
            any_hit = True
            print(line, flush=True)
        if not any_hit:
            print(f"No session in {settings.workspace} mentions {text!r}.", file=sys.stderr)
        return 0 if any_hit else 1
    for line in session_lines(found):
        print(line)
    if not found:
        print(f"No sessions in {settings.workspace} yet.", file=sys.stderr)
    return 0


def _breakers(settings: Settings, options: Namespace) -> int:
    from harness.cli.breakers import breaker_lines, breakers_as_json

    path = _journal(settings, options.session)
    if options.json:
        print(json.dumps(breakers_as_json(path, options.at)))
    else:
        print(*breaker_lines(path, options.at), sep="\n")
    return 0


def _admission(settings: Settings, options: Namespace) -> int:
    from harness.cli.admission import as_json, slots_status, status_lines

    status = slots_status(settings)
    print(json.dumps(as_json(status)) if options.json else "\n".join(status_lines(status)))
    return 0


def _export(settings: Settings, options: Namespace) -> int:
    from harness.engine.build.from_settings import secrets_of
    from harness.journal import read
    from harness.journal.export import as_json, save
    from harness.ui.markdown_page import markdown

    path = _journal(settings, options.id)
    write = markdown if options.format == "markdown" else as_json
    text = write(read(path).records, secrets_of(settings, os.environ))
    if options.output is None:
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        save(text, Path(options.output))
    return 0


def _shot(settings: Settings, options: Namespace) -> int:
    from harness.engine.build.from_settings import secrets_of
    from harness.journal.export import save, without_secrets
    from harness.ui.app.snapshot import parse_size, snapshot_svg

    columns, rows = parse_size(options.size)
    path = _journal(settings, options.session)
    secrets = secrets_of(settings, os.environ)
    records = without_secrets(records_until(path, step=options.at, seq=options.seq), secrets)
    drawing = snapshot_svg(
        records, path.stem, columns=columns, rows=rows, theme=options.theme, panel_only=options.panel
    )
    save(asyncio.run(drawing), Path(options.output))
    print(f"Written to {options.output}")
    return 0


def _watch(settings: Settings, options: Namespace) -> int:
    """Without a name the running session is watched, else the latest."""
    from harness.journal.follow import follow, running_session
    from harness.ui.plain.printer import has_colours
    from harness.ui.plain.recordings import watch_as_json, watch_in_lines

    running = None if options.session else running_session(_folder(settings))
    path = running or _journal(settings, options.session or "latest")
    if options.output_format == "stream-json":
        return watch_as_json(path, sys.stdout, sys.stderr)
    if _on_screen(settings):
        from harness.ui.app.watch import watch

        return watch(path.stem, follow(path))
    colours = has_colours(sys.stdout, os.environ)
    return watch_in_lines(path, _resume_hint(path, settings, options), sys.stdout, colours=colours)


def _replay(settings: Settings, options: Namespace) -> int:
    from harness.base.errors import SettingsError
    from harness.base.external_text import counted
    from harness.journal import read
    from harness.ui.plain.printer import has_colours
    from harness.ui.plain.recordings import replay_in_lines
    from harness.ui.replay import FASTEST, SLOWEST

    if options.speed != 0 and not SLOWEST <= options.speed <= FASTEST:
        raise SettingsError(f"--speed must be from {SLOWEST:g} to {FASTEST:g}, or 0 for no pauses.")
    path = _journal(settings, options.session)
    reading = read(path)
    if reading.skipped:
        print(f"{counted(len(reading.skipped), 'line')} of {path.name} could not be read", file=sys.stderr)
    if _on_screen(settings):
        from harness.ui.app.watch import replay

        return replay(path.stem, reading.records, speed=options.speed, step=options.step)
    return replay_in_lines(
        reading.records,
        _resume_hint(path, settings, options),
        sys.stdout,
        speed=options.speed,
        step=options.step,
        colours=has_colours(sys.stdout, os.environ),
    )


def _on_screen(settings: Settings) -> bool:
    from harness.ui.screen_choice import screen_wanted

    return screen_wanted(settings.plain, os.environ, (sys.stdin, sys.stdout, sys.stderr))


def _folder(settings: Settings) -> Path:
    from harness.journal import session_folder

    return session_folder(settings.workspace, settings.state_dir)


def _journal(settings: Settings, name: str) -> Path:
    from harness.cli.breakers import session_file

    return session_file(name, _folder(settings))


def _resume_hint(path: Path, settings: Settings, options: Namespace) -> str:
    """The command that resumes a session; empty for a journal outside of its sessions folder."""
    if path.resolve().parent != _folder(settings).resolve():
        return ""
    where = f" --cwd {shlex.quote(options.cwd)}" if options.cwd else ""
    return f"harness --resume {path.stem}{where}"


def _practice(options: Namespace) -> int:
    if options.kind != "mcp":
        return asyncio.run(_practice_api(options))
    from harness.practice.mcp_server import Server

    return Server(options.fault).serve()


async def _practice_api(options: Namespace) -> int:
    from harness.practice.script.entries import Chance
    from harness.practice.service import proxy, serve
    from harness.practice.wire.listener import Address
    from harness.ui.signals import handle_signals

    address = Address(options.host, options.port, tuple(options.allow_host))
    chance = None if options.faults is None else Chance(options.faults, options.seed)
    with handle_signals() as signalled:
        try:
            if options.kind == "serve":
                from harness.model.tokens import TokenCounter
                from harness.practice.rule_model import RuleModel

                counter = TokenCounter()
                await asyncio.to_thread(counter.load)
                script, window = options.script, options.window
                await serve(
                    RuleModel(),
                    sys.stdout,
                    address=address,
                    script=script,
                    chance=chance,
                    window=window,
                    tokens=counter,
                )
            else:
                await proxy(options.upstream, sys.stdout, address=address, script=options.script, chance=chance)
        except asyncio.CancelledError:
            if not signalled.number:
                raise
    return 0  # a server ends by a signal only
