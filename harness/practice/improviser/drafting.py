# ruff: noqa: E501 - a pattern reads best in one piece
"""What to write into a new file when the person named only its kind."""

import json
import re
from collections.abc import Callable, Mapping

from harness.practice.improviser.mentions import Sentence

_PRINTS = re.compile(
    r"\b(?:prints?|says?|outputs?|shows?|echo(?:e?s)?|displays?|logs?)\s+(?:the\s+text\s+|out\s+)?(?P<text>[^\n]+?)[.!]?\s*$",
    re.I,
)
_PRINTS_JA = re.compile(r"(?P<text>[^、。\s]+?)(?:と|を)(?:いう文字を)?(?:表示|出力|プリント|印刷|言う)")
_WITH = re.compile(
    r"\b(?:with|containing|that (?:contains|says|reads)|saying|reading)\s+(?:the\s+)?(?:following\s+)?(?:text|contents?|words?|lines?|line)?\s*:?\s*(?P<text>.+)$",
    re.I | re.S,
)
_COUNTING = re.compile(r"\bnumbers?\s+(?:from\s+)?(?P<first>\d{1,9})\s*(?:to|through|until|-)\s*(?P<last>\d{1,9})\b")
_WRITTEN = re.compile(
    r"\bwrite\s+(?!an?\b|the\b|some\b|me\b)(?P<text>.+?)\s+(?:to|into)\s+(?:the\s+file\s+)?\S+$", re.I
)
_COLON = re.compile(r":\s*(?P<text>\S.*)$", re.S)
_WITH_JA = re.compile(
    r"(?:内容は|中身は|本文は)(?P<text>[^、。\n]+?)(?:で|と|に|、|。|$)|(?P<other>[^、。\s]+)と(?:書いた|書かれた|いう内容の)"
)
_FUNCTION = re.compile(
    r"\bfunction\s+(?:called\s+|named\s+)?(?P<name>[A-Za-z_]\w*)\s*(?:\((?P<parameters>[\w\s,]*)\))?", re.I | re.A
)


def wrapped(text: str) -> str:
    """Text as the content of a file: with an end of line at its end."""
    return text if not text or text.endswith("\n") else text + "\n"


def content_for(path: str, clause: Sentence) -> str:
    """The content of a new file: what the person gave, or a small sensible beginning for its kind."""
    ending = path.rsplit(".", 1)[-1].lower() if "." in path else ""
    printed = _printed(clause, path)
    if ending == "py" and (counted := _COUNTING.search(clause.text)):
        return f"for number in range({counted['first']}, {int(counted['last']) + 1}):\n    print(number)\n"
    if printed is not None and ending in _PROGRAMS:
        return _PROGRAMS[ending](printed)
    if (given := _given(clause, path)) is not None:
        return wrapped(given)
    if re.search(r"\bempty\b|\btouch\b|空の", clause.words):
        return ""
    if ending == "py" and (function := _FUNCTION.search(clause.text)):
        return _function(function)
    return _beginning(path, ending)


def _given(clause: Sentence, path: str) -> str | None:
    if clause.targets_and_texts[1]:
        return clause.targets_and_texts[1][0]
    for pattern in (_WITH, _WITH_JA, _WRITTEN, _COLON):
        if match := pattern.search(clause.text):
            text = clause.restored(next(group for group in match.groups() if group))
            if text and path not in text:
                return text
    return None


def _printed(clause: Sentence, path: str) -> str | None:
    """The words that a new program shall print; None where nothing is said of printing."""
    asked = re.search(
        r"\b(?:prints?|says?|outputs?|shows?|echo|displays?|logs?)\b|表示|出力|プリント|と言う", clause.words
    )
    if re.search(r"hello,? world|ハロー・?ワールド", clause.plain, re.I) and not clause.targets_and_texts[1]:
        hello = re.search(r"hello,? world!?", clause.plain, re.I)
        return hello[0] if hello else "Hello World"
    if not asked:
        return None
    if clause.targets_and_texts[1]:
        text = clause.targets_and_texts[1][0]
        return None if "(" in text or "\n" in text else text
    for pattern in (_PRINTS, _PRINTS_JA):
        if match := pattern.search(clause.text):
            text = clause.restored(match["text"])
            return text if path not in text else None
    return None


_PROGRAMS: Mapping[str, Callable[[str], str]] = {
    "py": lambda text: f"print({json.dumps(text, ensure_ascii=False)})\n",
    "js": lambda text: f"console.log({json.dumps(text, ensure_ascii=False)});\n",
    "sh": lambda text: "#!/usr/bin/env bash\nprintf '%s\\n' '" + text.replace("'", "'\\''") + "'\n",
    "rb": lambda text: f"puts {json.dumps(text, ensure_ascii=False)}\n",
    "html": lambda text: f"<!doctype html>\n<title>{text}</title>\n<p>{text}</p>\n",
}


def _function(match: re.Match[str]) -> str:
    names = [name.strip() for name in (match["parameters"] or "").split(",") if name.strip().isidentifier()]
    body = f"return {' + '.join(names)}" if match["name"] in ("add", "plus") and names else "raise NotImplementedError"
    return f"def {match['name']}({', '.join(names)}):\n    {body}\n"


def _beginning(path: str, ending: str) -> str:
    name = path.rsplit("/", 1)[-1].rsplit(".", 1)[0] or path
    title = re.sub(r"[_-]+", " ", name).strip().capitalize() or "Notes"
    match ending:
        case "py" if name.startswith("test_"):
            return "def test_two_and_two() -> None:\n    assert 2 + 2 == 4\n"
        case "py":
            return f'"""{title}."""\n\n\ndef main() -> None:\n    print("Hello from {name}")\n\n\nif __name__ == "__main__":\n    main()\n'
        case "md":
            return f"# {title}\n\nWhat this is, in one sentence.\n"
        case "json":
            return "{}\n"
        case "html":
            return f"<!doctype html>\n<title>{title}</title>\n<h1>{title}</h1>\n"
        case "sh":
            return f"#!/usr/bin/env bash\nset -euo pipefail\n\necho 'Hello from {name}'\n"
        case "js":
            return f'console.log("Hello from {name}");\n'
        case "csv":
            return "name,value\n"
        case "gitignore":
            return "__pycache__/\n.venv/\n"
        case "toml" | "yaml" | "yml" | "ini" | "cfg":
            return f"# {title}\n"
        case _:
            return f"{title}\n"
