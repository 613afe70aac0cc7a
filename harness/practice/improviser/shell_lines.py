"""Command lines for what has no tool of its own, or none that works. Everything in them is quoted."""

import shlex


def reading(path: str) -> str:
    """Shows a file, with the number before each line."""
    return f"cat -n -- {shlex.quote(path)}"


def writing(path: str, content: str) -> str:
    """Writes a file whole, and makes the folder it is in."""
    folder = path.rpartition("/")[0]
    made = f"mkdir -p -- {shlex.quote(folder)} && " if folder else ""
    return f"{made}printf %s {shlex.quote(content)} > {shlex.quote(path)}"


def finding(pattern: str, folder: str | None = None) -> str:
    """Lists the files whose path fits a glob pattern, without hidden ones.

    The parts of the pattern up to the first with a wildcard are where the search starts, its last part is the name.
    A pattern without a slash is looked for at any depth.
    """
    *parts, name = pattern.removeprefix("./").split("/")
    fixed = next((at for at, part in enumerate(parts) if set(part) & set("*?[")), len(parts))
    start = "/".join(filter(None, (folder or ".", *parts[:fixed])))
    deep = not parts or "**" in parts
    depth = "" if deep else f" -mindepth {len(parts) - fixed + 1} -maxdepth {len(parts) - fixed + 1}"
    where = start if start.startswith(("/", ".")) else f"./{start}"
    there = "" if where == "." else f"ls -d -- {shlex.quote(where)} > /dev/null && "
    return f"{there}find {shlex.quote(where)}{depth} -type f -not -path '*/.?*' -name {shlex.quote(name)} | sort"


def naming(path: str) -> str:
    """Prints a path if it is there; a star at its end stays one."""
    word = f"{shlex.quote(path[:-1])}*" if path.endswith("*") else shlex.quote(path)
    return f"ls -d -- {word} 2>/dev/null || true"


def searching(pattern: str, folder: str | None = None, include: str | None = None) -> str:
    """Finds the lines that fit a regular expression: with rg if it is installed, otherwise with grep.

    That nothing is found is no failure.
    """
    where, words = shlex.quote(folder or "."), shlex.quote(pattern)
    name = shlex.quote(include.rsplit("/", 1)[-1]) if include else ""
    rg = f"rg -nH --no-heading --color never {f'-g {name} ' if name else ''}-e {words} -- {where}"
    grep = f"grep -rnIE {f'--include={name} ' if name else ''}--exclude-dir='.?*' -e {words} -- {where}"
    return f"if command -v rg >/dev/null; then {rg}; else {grep}; fi || test $? -eq 1"
