"""Where scheduled prompts are kept. Apart from the rest, which is loaded when a schedule is used."""

from pathlib import Path

from harness.journal import state_folder
from harness.settings import Settings


def schedule_file(settings: Settings) -> Path:
    """The file with the scheduled prompts of a project."""
    from harness.tasks.places import project_slug

    return state_folder(settings.state_dir) / "schedules" / f"{project_slug(settings.workspace)}.sqlite"
