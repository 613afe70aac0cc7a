"""The log for developers. Without --debug there is none, and nothing of it ever reaches the screen."""

import logging
import os
import time
from typing import TextIO

from harness.journal import state_folder
from harness.settings import Settings

SHARED = ("harness", "asyncio", "py.warnings")
"""Loggers that would otherwise write to standard error."""


def open_log(settings: Settings, err: TextIO) -> logging.Logger:
    """The logger of this run. With `debug` set it writes to a file whose path is shown on `err`."""
    handler: logging.Handler = logging.NullHandler()
    if settings.debug:
        folder = state_folder(settings.state_dir) / "logs"
        path = folder / f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{os.getpid()}.log"
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            handler = logging.FileHandler(path, encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            print(f"no log: {path} cannot be written ({error.strerror})", file=err)
        else:
            path.chmod(0o600)
            print(f"log: {path}", file=err)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    for name in SHARED:
        logger = logging.getLogger(name)
        logger.addHandler(handler)
        logger.propagate = False
    log = logging.getLogger("harness")
    log.setLevel(logging.DEBUG if settings.debug else logging.CRITICAL)
    logging.captureWarnings(capture=True)
    return log
