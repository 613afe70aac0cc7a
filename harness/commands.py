"""The commands besides the agent itself: look something up, or serve the practice model or the app."""

import asyncio
import os
import shlex
import sys
from argparse import Namespace
from pathlib import Path

from harness.errors import SettingsError
from harness.settings import Settings, load


def run(command: str, options: Namespace) -> int:
    """Run one of `cli.COMMANDS`; returns the exit code. Raises HarnessError."""
    match command:
        case "doctor":
            from harness.doctor import doctor

            return doctor(sys.stdout, workspace=options.cwd, online=options.online)
        case "sessions":
            return _sessions(_settings(options))
        case "export":
            return _export(_settings(options), options)
        case "breakers":
            return _breakers(_settings(options), options)
        case "watch":
            return _watch(_settings(options), options)
        case "replay":
            return _replay(_settings(options), options)
        case "transitions":
            from harness.recovery import printed

            print(printed.as_markdown() if options.markdown else printed.as_text())
        case "settings":
            from harness.settings import settings_reference

            print(settings_reference())
        case "practice":
            return asyncio.run(_practice(options))
        case "serve":
            from harness.ui.serving.command import serve

            asyncio.run(serve(options.of_app, options.port, sys.stdout))
    return 0


def _settings(options: Namespace) -> Settings:
    return load({"workspace": options.cwd, "plain": getattr(options, "plain", None) or None}, os.environ).settings


def _sessions(settings: Settings) -> int:
    from harness.journal import session_folder, sessions
    from harness.ui.session_list import session_lines

    found = sessions(session_folder(settings.workspace, settings.state_dir))
    for line in session_lines(found):
        print(line)
    if not found:
        print(f"There is no session for {settings.workspace} yet.", file=sys.stderr)
    return 0


def _breakers(settings: Settings, options: Namespace) -> int:
    from harness.breaker_history import breaker_lines, session_file
    from harness.journal import session_folder

    path = session_file(options.session, session_folder(settings.workspace, settings.state_dir))
    for line in breaker_lines(path, options.at):
        print(line)
    return 0


def _watch(settings: Settings, options: Namespace) -> int:
    from harness.breaker_history import session_file
    from harness.following import running_session
    from harness.journal import session_folder
    from harness.ui.plain import has_colours
    from harness.ui.watching import watch_as_json, watch_in_lines

    folder = session_folder(settings.workspace, settings.state_dir)
    running = None if options.session else running_session(folder)
    path = running or session_file(options.session or "latest", folder)
    if options.output_format == "stream-json":
        return watch_as_json(path, sys.stdout, sys.stderr)
    if _screen_wanted(settings):
        raise SettingsError("There is no screen for watching yet; add --plain.")
    colours = has_colours(sys.stdout, os.environ)
    return watch_in_lines(path, _how_to_go_on(path, folder, options), sys.stdout, colours=colours)


def _replay(settings: Settings, options: Namespace) -> int:
    from harness.breaker_history import session_file
    from harness.journal import read, session_folder
    from harness.ui.plain import has_colours
    from harness.ui.replaying.in_lines import replay_in_lines
    from harness.ui.replaying.player import FASTEST, SLOWEST

    if options.speed != 0 and not SLOWEST <= options.speed <= FASTEST:
        raise SettingsError(f"--speed is from {SLOWEST:g} to {FASTEST:g}, or 0 to leave all pauses out.")
    folder = session_folder(settings.workspace, settings.state_dir)
    path = session_file(options.session, folder)
    reading = read(path)
    if reading.skipped:
        count = len(reading.skipped)
        print(f"{count} line{'' if count == 1 else 's'} of {path.name} could not be read", file=sys.stderr)
    if _screen_wanted(settings):
        raise SettingsError("There is no screen for replaying yet; add --plain.")
    return replay_in_lines(
        reading.records,
        _how_to_go_on(path, folder, options),
        sys.stdout,
        speed=options.speed,
        step=options.step,
        colours=has_colours(sys.stdout, os.environ),
    )


def _screen_wanted(settings: Settings) -> bool:
    from harness.ui.screen_choice import screen_wanted

    return screen_wanted(settings.plain, os.environ, (sys.stdin, sys.stdout, sys.stderr))


def _how_to_go_on(path: Path, folder: Path, options: Namespace) -> str:
    """The command that resumes a session; empty for a journal that lies somewhere else than its folder's sessions."""
    if path.resolve().parent != folder.resolve():
        return ""
    where = f" --cwd {shlex.quote(options.cwd)}" if options.cwd else ""
    return f"harness --resume {path.stem}{where}"


def _export(settings: Settings, options: Namespace) -> int:
    from harness.export import as_json, markdown, save
    from harness.journal import find, read, session_folder

    path = find(session_folder(settings.workspace, settings.state_dir), options.id)
    write = markdown if options.format == "markdown" else as_json
    text = write(read(path).records, filter(None, (settings.api_key, settings.auth_token)))
    if options.output is None:
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        save(text, Path(options.output))
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
                )
        except asyncio.CancelledError:
            if not signalled.number:
                raise
    return 0  # a server has no other end than a signal
