"""`harness watch` and `harness replay`: which session is meant, and whether it is shown on a screen or in lines."""

import os
import shlex
import sys
from argparse import Namespace
from pathlib import Path

from harness.base.errors import SettingsError
from harness.cli.breakers import session_file
from harness.journal import read, session_folder
from harness.journal.follow import follow, running_session
from harness.settings import Settings
from harness.ui.plain.plain import has_colours
from harness.ui.plain.watch import watch_as_json, watch_in_lines
from harness.ui.replay.plain import replay_in_lines
from harness.ui.replay.player import FASTEST, SLOWEST
from harness.ui.screen_choice import screen_wanted


def watch(settings: Settings, options: Namespace) -> int:
    """Show what a session does; without a name the one that runs, else the latest. Returns the exit code."""
    folder = session_folder(settings.workspace, settings.state_dir)
    running = None if options.session else running_session(folder)
    path = running or session_file(options.session or "latest", folder)
    if options.output_format == "stream-json":
        return watch_as_json(path, sys.stdout, sys.stderr)
    if _on_a_screen(settings):
        from harness.ui.app.watch import watch as watch_on_screen

        return watch_on_screen(path.stem, follow(path))
    colours = has_colours(sys.stdout, os.environ)
    return watch_in_lines(path, _how_to_go_on(path, folder, options), sys.stdout, colours=colours)


def replay(settings: Settings, options: Namespace) -> int:
    """Show a recorded session again. Returns the exit code."""
    if options.speed != 0 and not SLOWEST <= options.speed <= FASTEST:
        raise SettingsError(f"--speed is from {SLOWEST:g} to {FASTEST:g}, or 0 to leave all pauses out.")
    folder = session_folder(settings.workspace, settings.state_dir)
    path = session_file(options.session, folder)
    reading = read(path)
    if count := len(reading.skipped):
        print(f"{count} line{'' if count == 1 else 's'} of {path.name} could not be read", file=sys.stderr)
    if _on_a_screen(settings):
        from harness.ui.app.watch import replay as replay_on_screen

        return replay_on_screen(path.stem, reading.records, speed=options.speed, step=options.step)
    return replay_in_lines(
        reading.records,
        _how_to_go_on(path, folder, options),
        sys.stdout,
        speed=options.speed,
        step=options.step,
        colours=has_colours(sys.stdout, os.environ),
    )


def _on_a_screen(settings: Settings) -> bool:
    return screen_wanted(settings.plain, os.environ, (sys.stdin, sys.stdout, sys.stderr))


def _how_to_go_on(path: Path, folder: Path, options: Namespace) -> str:
    """The command that resumes a session; empty for a journal that lies somewhere else than its folder's sessions."""
    if path.resolve().parent != folder.resolve():
        return ""
    where = f" --cwd {shlex.quote(options.cwd)}" if options.cwd else ""
    return f"harness --resume {path.stem}{where}"
