"""Flags > environment > .env > project file > user file > defaults: one checked, frozen object.

`load` reads all layers and records the origin of every value. Files in a workspace are untrusted: they can neither send
your key elsewhere nor disable permission questions.
"""

from harness.settings.fields import DEFAULT_MODEL, PRACTICE_MODEL, Settings
from harness.settings.load import LoadedSettings, current_folder, load, project_settings_file, user_settings_file
from harness.settings.reference import settings_reference

__all__ = [
    "DEFAULT_MODEL",
    "PRACTICE_MODEL",
    "LoadedSettings",
    "Settings",
    "current_folder",
    "load",
    "project_settings_file",
    "settings_reference",
    "user_settings_file",
]
