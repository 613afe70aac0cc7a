"""Files that a prompt names with `@`, and the paths that a terminal pastes when a file is dragged into it."""

import re
import shlex
from pathlib import PurePath
from urllib.parse import unquote, urlsplit

from harness.media.formats import SUFFIXES

_WIDE_MARK = r"\u3000-\u303f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
"""Punctuation of Chinese, Japanese and Korean text, after which no space is typed."""
_MENTION = re.compile(rf'(?:^|(?<=[\s({_WIDE_MARK}]))[@＠](?:"(?P<quoted>[^"\n]+)"|(?P<plain>[^\s"@＠]+))')
_TRAILING = re.compile(rf"[.,;:!?)\]}}'>{_WIDE_MARK}]+$")
_SEVERAL = re.compile(r"""\s(?:/|~/|'|"|file://)""")
MOST_PASTED = 20
"""Paths of one paste; more are taken for text."""
_LONGEST_PASTE = 10_000


def mentions(text: str) -> tuple[str, ...]:
    """The paths that `text` names as `@path` or `@"path with blanks"`, each once and in order.

    Punctuation behind a path belongs to the sentence. What follows an `@` need not be a file.
    """
    found = (match["quoted"] or _TRAILING.sub("", match["plain"]) for match in _MENTION.finditer(text))
    return tuple(dict.fromkeys(path for path in found if path))


_RESOURCE = re.compile(r"(?P<server>[^:/@]+):(?P<uri>[A-Za-z][A-Za-z0-9+.-]*:.+)", re.DOTALL)


def resource_of(path: str) -> tuple[str, str] | None:
    """Server and URI of a mention such as `docs:note://2`, a resource of an MCP server; None: it is a path."""
    found = _RESOURCE.fullmatch(path)
    return (found["server"], found["uri"]) if found else None


def mention(path: str) -> str:
    """`path` as a prompt names it."""
    return f'@"{path}"' if re.search(rf'[\s"@＠{_WIDE_MARK}]', path) or _TRAILING.search(path) else f"@{path}"


def looks_like_media(path: str) -> bool:
    """Whether a name is one of an image or a PDF."""
    return PurePath(path).suffix.lower() in SUFFIXES


def pasted_paths(text: str) -> tuple[str, ...]:
    """The paths in a paste that holds nothing else, as terminals write them: quoted, with backslashes or as file URLs.

    All of them are absolute or begin with `~/`; () where the paste is anything else.
    """
    if len(text) > _LONGEST_PASTE:
        return ()
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    whole = [_path(line) for line in lines]
    found = whole if whole and all(whole) and not any(map(_SEVERAL.search, lines)) else _words(" ".join(lines))
    paths = tuple(path for path in found if path is not None)
    return paths if 0 < len(paths) == len(found) <= MOST_PASTED else ()


def _words(text: str) -> list[str | None]:
    try:
        return [_path(word) for word in shlex.split(text)]
    except ValueError:  # a quote that is not closed
        return [None]


def _path(text: str) -> str | None:
    """One path in any of those forms."""
    if text.startswith("file://"):
        try:
            url = urlsplit(text)
        except ValueError:
            return None
        return unquote(url.path) if url.netloc in ("", "localhost") and url.path.startswith("/") else None
    if text[:1] in "'\"" or "\\" in text:
        try:
            words = shlex.split(text)
        except ValueError:
            return None
        text = words[0] if len(words) == 1 else ""
    return text if text.startswith(("/", "~/")) and "\n" not in text and "\0" not in text else None
