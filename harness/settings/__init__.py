"""Flags > environment > .env > project file > user file > defaults: one checked, frozen object.

`load` reads all layers and says for every setting where its value came from. A file that lies in the
workspace may come from somebody else, so it can neither send your key elsewhere nor switch questions off.
"""

from harness.settings.fields import DEFAULT_MODEL, PRACTICE_MODEL, Settings
from harness.settings.load import Loaded, current_folder, load, project_settings_file, user_settings_file
from harness.settings.reference import settings_reference

__all__ = [
    "DEFAULT_MODEL",
    "PRACTICE_MODEL",
    "Loaded",
    "Settings",
    "current_folder",
    "load",
    "project_settings_file",
    "settings_reference",
    "user_settings_file",
]
