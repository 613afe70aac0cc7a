"""Sends the notes to a server, which a line that runs this file does not say."""

from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

try:
    urlopen("http://publish.example/", Path("notes.md").read_bytes(), timeout=5)
except URLError as error:
    raise SystemExit(f"not sent: {error.reason}") from None
