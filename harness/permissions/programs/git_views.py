"""The subcommands of git that only look.

Most operands of git are revisions, paths, or both in one word (`HEAD~2:src/a.py`, `:0:.env`, `:(top)docs`). Which it is
depends on the repository, so every part of a word that may be a path counts as one.

Not in the grammar: an abbreviated option, an option that runs a program (`--ext-diff`, `--show-signature`, `-O` of
grep), that reads names from its input (`--stdin`, `--batch`), that opens a manual (`--help`), or that another version
of git reads differently. Settings of the repository may still name programs that git runs while it looks;
`harness.processes.git_safety` is about those.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from harness.permissions.programs.grammar import (
    HERE,
    LIST,
    READ,
    TEXT,
    ParsedCommand,
    Parser,
    Program,
    WordRole,
    WordUse,
    plain,
)
from harness.permissions.shell.syntax import Word, WordKind
from harness.processes.git_safety import SIGNATURE

# ── revisions and paths ─────────────────────────────────────────────────────────────────────────

_DASHES = Word("--")
_MAGIC = re.compile(r":\(([^)]*)\)|:[/!^]+:?")
_CERTAIN_PATH = re.compile(r"\.?/|\.\.?(/|$)|.*/$", re.DOTALL)
"""What no revision looks like."""
_OBJECT = re.compile(r"[^:{}]*:(?![/!^(])[^{}]+", re.DOTALL)
"""A file or folder of a revision, or of the index."""
_FILE = re.compile(r":|^[0-9a-f]{4,64}$", re.IGNORECASE)
"""A part of the name of an object that may be a file."""
_REVISION = re.compile(r"(HEAD|@)([~^@][^/]*)?|[^/]*[^./]\.\.\.?[^./].*", re.DOTALL)
"""HEAD and what counts from it, and ranges. A folder of that name is not thought of."""


def _paths_of(word: Word) -> Iterator[tuple[Word, bool]]:
    """Everything in an operand that may be a path, and whether it may count from the top of the repository."""
    text = word.text
    if word.home or ":" not in text:
        yield word, False
        return
    magic = _MAGIC.match(text)
    if magic is not None:
        yield Word(text[magic.end() :] or "."), True
        return
    if not text.startswith(":"):
        yield word, False
    for found in re.finditer(":", text):
        path = text[found.end() :]
        yield Word(path or "."), not path.startswith(("./", "../"))


def _shows(
    content: Callable[[ParsedCommand], bool],
    whole: WordRole | None = WordRole.CHANGED,
    *,
    skips: int = 0,
    objects: bool = False,
    paths: bool = True,
) -> Parser:
    """Operands are revisions and paths.

    `content`: content of files is shown, and not only names. `whole`: the role of the tracked files that are then
    shown; None: only those that operands name. `skips`: operands in front that are text. `objects`: a file of a
    revision (HEAD:src/a.py) is shown and compared with nothing. Without `paths` no operand limits what is shown.
    """

    def read(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
        parsed = plain(program, words)
        if parsed is None:
            return None
        text = 0 if parsed.has(program.unless) or _may_be_several(parsed.operands[:skips]) else skips
        operands = tuple(word for word in parsed.operands[text:] if word != _DASHES or program.permutes)
        if any(word.kind is WordKind.GLOB and ":" in word.text for word in operands):
            return None  # the shell does not know that a part of it is a path
        shown = content(parsed)
        # git has already changed to the top when it opens some of the files that options name.
        uses = [replace(use, top=True) for use in parsed.uses if use.role is READ]
        for word in operands:
            uses += [WordUse(READ if shown else LIST, path, top) for path, top in _paths_of(word)]
        for name, value in parsed.options:
            if name == "-L" and value is not None and ":" in value.text:
                uses += [WordUse(READ, path, top) for path, top in _paths_of(value) if path != value]
        only = objects and bool(operands) and all(_OBJECT.fullmatch(word.text) for word in operands)
        if shown and whole is not None and not only:
            uses.extend(_limits(whole, operands, _behind_dashes(parsed, words)) if paths else [_everything(whole)])
        return replace(parsed, uses=tuple(uses))

    return read


def _may_be_several(words: tuple[Word, ...]) -> bool:
    return any(word.kind is WordKind.GLOB for word in words)


def _behind_dashes(parsed: ParsedCommand, words: tuple[Word, ...]) -> tuple[Word, ...]:
    """The operands after a -- that is not the value of an option."""
    for number, word in enumerate(words):
        if word == _DASHES and not any(value is word for _, value in parsed.options):
            return words[number + 1 :]
    return ()


def _limits(whole: WordRole, operands: tuple[Word, ...], behind: tuple[Word, ...]) -> Iterator[WordUse]:
    """The tracked files whose content is shown: those below the paths that are sure to limit git, or all."""
    limits = behind or tuple(word for word in operands if _CERTAIN_PATH.match(word.text))
    if limits and all(word.kind is WordKind.LITERAL and not re.search(r"[*?\[\\]|^:", word.text) for word in limits):
        yield from (WordUse(whole, word) for word in limits)
    else:
        yield _everything(whole)


def _everything(whole: WordRole) -> WordUse:
    return WordUse(whole, HERE, top=True)


def _never(parsed: ParsedCommand) -> bool:
    return False


def _always(parsed: ParsedCommand) -> bool:
    return True


_PATCHES = "p u c m U W G S L --patch --unified --cc --function-context --word-diff --word-diff-regex --color-words "
_PATCHES += "--check --color-moved"
_NAMES = "s --no-patch --stat --numstat --shortstat --summary --dirstat --name-only --name-status --raw --quiet "
_NAMES += "--compact-summary"


def _patches(parsed: ParsedCommand) -> bool:
    return parsed.has(_PATCHES)


def _patches_unless_names(parsed: ParsedCommand) -> bool:
    return parsed.has(_PATCHES) or not parsed.has(_NAMES)


def _objects(parsed: ParsedCommand) -> bool:
    """show prints the content of a file by its object, whatever else it is to show of commits."""
    return _patches_unless_names(parsed) or any(_FILE.search(word.text) for word in parsed.operands)


_NAMED = _shows(_never)
_DIFFED = _shows(_patches_unless_names)
_SEARCHED = _shows(_always, WordRole.TRACKED, skips=1)


def _diff(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    """diff, which compares two files or folders outside of any repository, too."""
    parsed = _DIFFED(program, words)
    if parsed is None or len(parsed.operands) != 2 or any(_REVISION.fullmatch(word.text) for word in parsed.operands):
        return parsed
    return replace(parsed, uses=(*parsed.uses, *(WordUse(WordRole.TREE, word) for word in parsed.operands)))


# ── what else has to hold ───────────────────────────────────────────────────────────────────────


def _runs_no_gpg(parsed: ParsedCommand) -> bool:
    """No format of it asks for a signature."""
    formats = (value for name, value in parsed.options if name in ("--format", "--pretty", "--sort"))
    return not any(value is not None and SIGNATURE.search(value.text) for value in formats)


def _lists_refs(parsed: ParsedCommand) -> bool:
    """branch and tag without what would make one: a name needs an option with which it is a pattern."""
    return _runs_no_gpg(parsed) and (not parsed.operands or parsed.has(f"--list {_FILTERS}"))


def _lists_tags(parsed: ParsedCommand) -> bool:
    return _lists_refs(parsed) or (_runs_no_gpg(parsed) and parsed.has("l"))


# ── settings ────────────────────────────────────────────────────────────────────────────────────

_SHOWN_KEYS = re.compile(
    r"user\.(name|email)|init\.defaultbranch|pull\.(rebase|ff)|core\.(editor|pager|autocrlf|eol|filemode|bare|ignorecase"
    r"|hookspath|excludesfile|worktree|symlinks)|push\.default|merge\.(ff|conflictstyle|tool)|diff\.(tool|algorithm)"
    r"|commit\.(gpgsign|template)|branch\..+\.(remote|merge|rebase|description)|remote\..+\.(url|pushurl|fetch)",
    re.IGNORECASE | re.DOTALL,
)
"""Settings that hold no secret, or an address that `programs_in_config` checks for one."""
CONFIG_FILE = WordUse(READ, Word(".git/config"), top=True)
"""The use of a command that prints addresses of the repository's configuration, which may hold a password."""


def _remote(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    parsed = plain(program, words)
    return None if parsed is None else replace(parsed, program=program, uses=(*parsed.uses, CONFIG_FILE))


def _config(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    """One name and no value: git prints the value."""
    get = bool(words) and words[0].known and words[0].text == "get"
    parsed = plain(program, words[1:] if get else words)
    keys = parsed.operands if parsed is not None else ()
    if parsed is None or len(keys) != 1 or not keys[0].known or not _SHOWN_KEYS.fullmatch(keys[0].text):
        return None
    return replace(parsed, uses=(*parsed.uses, CONFIG_FILE)) if keys[0].text.lower().startswith("remote.") else parsed


# ── the table ───────────────────────────────────────────────────────────────────────────────────

_DIFF_FLAGS = (
    "p u s R a b w z --patch --no-patch --raw --numstat --shortstat --summary --name-only --name-status --minimal "
    "--patience --histogram --compact-summary --no-color --no-renames --check --full-index --text "
    "--ignore-space-at-eol --ignore-space-change --ignore-all-space --ignore-blank-lines --function-context "
    "--exit-code --quiet --no-ext-diff --no-textconv --no-prefix --cc W "
)
_DIFF_TEXTS = "l S G --diff-filter --diff-algorithm --word-diff-regex "
_DIFF_MAYBE = "U B M C --unified --stat --dirstat --color --color-moved --word-diff --color-words --abbrev "
_DIFF_MAYBE += "--find-renames --find-copies --relative "
_COMMITS = (
    "i E F P --all --merges --no-merges --first-parent --all-match --invert-grep --regexp-ignore-case "
    "--extended-regexp --fixed-strings --not --reflog --cherry-pick --left-only --right-only --merge --boundary "
    "--full-history --date-order --author-date-order --topo-order --reverse "
)
_COMMITS_TEXTS = "n --max-count --skip --since --after --until --before --author --committer --grep --date "
_COMMITS_MAYBE = "--branches --tags --remotes --no-walk --ancestry-path "
_LOG = (
    "c m q g --oneline --graph --full-diff --no-decorate --walk-reflogs --abbrev-commit --no-abbrev-commit --no-notes "
)
_LOG += "--relative-date --parents --left-right --follow "
_LOG_MAYBE = "--pretty --format --decorate "
_FILTERS = "--contains --no-contains --merged --no-merged --points-at"
_REFS = "--sort --format"
_TEXTS = (TEXT,)


def _history(parser: Parser) -> Program:
    """log and its like."""
    return Program(
        _DIFF_FLAGS + _COMMITS + _LOG,
        _DIFF_TEXTS + _COMMITS_TEXTS + "L",
        _DIFF_MAYBE + _COMMITS_MAYBE + _LOG_MAYBE,
        operands=_TEXTS,
        numbers=True,
        check=_runs_no_gpg,
        parser=parser,
    )


def _difference(parser: Parser, flags: str = "") -> Program:
    """diff and its like."""
    return Program(
        _DIFF_FLAGS + flags, _DIFF_TEXTS, _DIFF_MAYBE, operands=_TEXTS, numbers=True, parser=parser, check=_runs_no_gpg
    )


def _view(flags: str = "", texts: str = "", maybe: str = "", **more: object) -> Program:
    return Program(flags, texts, maybe, operands=_TEXTS, **more)  # type: ignore[arg-type]


VIEWS: Mapping[str, Program] = MappingProxyType(
    {
        "status": _view(
            "s b v z --short --branch --verbose --long --show-stash --ahead-behind --no-ahead-behind --no-renames",
            maybe="u --porcelain --untracked-files --ignored --ignore-submodules",
            parser=_shows(lambda parsed: parsed.has("v --verbose")),
        ),
        "diff": _difference(_diff, "--cached --staged --merge-base"),
        "diff-tree": _difference(_shows(_patches), "r t c m v --root --no-commit-id"),
        **dict.fromkeys(("log", "whatchanged"), _history(_shows(_patches))),
        "show": _history(_shows(_objects, objects=True)),
        "rev-list": _view(
            f"{_COMMITS} g --oneline --abbrev-commit --parents --children --count",
            _COMMITS_TEXTS,
            f"{_COMMITS_MAYBE} --pretty --format --abbrev",
            numbers=True,
            check=_runs_no_gpg,
            parser=_NAMED,
        ),
        "shortlog": _view(
            f"{_COMMITS} n s e --numbered --summary --email",
            "--since --after --until --before --author --grep --group",
            _COMMITS_MAYBE,
            parser=_NAMED,
        ),
        "rev-parse": _view(
            "q --verify --quiet --symbolic-full-name --show-toplevel --git-dir --absolute-git-dir --git-common-dir "
            "--is-inside-work-tree --is-inside-git-dir --is-bare-repository --is-shallow-repository --show-prefix "
            "--show-cdup --show-superproject-working-tree --all",
            maybe="--short --abbrev-ref --branches --tags --remotes",
        ),
        "ls-files": _view(
            "c d m o i s u k z t v --cached --deleted --modified --others --ignored --stage --unmerged --directory "
            "--deduplicate --exclude-standard --error-unmatch --full-name --eol",
            "x --exclude",
            parser=_NAMED,
        ),
        "ls-tree": _view("d r t l z --long --name-only --name-status --full-name --full-tree", parser=_NAMED),
        **dict.fromkeys(
            ("blame", "annotate"),
            _view(
                "b l t p c f n s e w --porcelain --line-porcelain --show-name --show-number --show-email",
                "L --date --since",
                "M C --abbrev",
                parser=_shows(_always, None),
            ),
        ),
        "cat-file": _view(
            "t s e p", most=2, parser=_shows(lambda parsed: not parsed.has("t s e"), objects=True, paths=False)
        ),
        "grep": Program(
            "a i I r w v h H E G P F n l L z o c p W q --cached --text --ignore-case --word-regexp --invert-match "
            "--full-name --extended-regexp --basic-regexp --perl-regexp --fixed-strings --line-number --column "
            "--files-with-matches --name-only --files-without-match --null --only-matching --count --no-color --break "
            "--heading --show-function --function-context --and --or --not --all-match --quiet",
            "C A B m e --context --after-context --before-context --max-count --max-depth",
            "--color",
            "f",
            unless="e f",
            operands=(TEXT, TEXT),
            permutes=False,
            numbers=True,
            parser=_SEARCHED,
        ),
        "describe": _view("--all --tags --exact-match --long --always --first-parent", "--match", "--dirty --abbrev"),
        "merge-base": _view("a --all --octopus --is-ancestor --independent --fork-point"),
        "name-rev": _view("--tags --all --name-only --always"),
        "cherry": _view("v"),
        "show-ref": _view("q s d --head --heads --tags --verify --quiet"),
        "for-each-ref": _view("", f"--count {_REFS}", f"--color {_FILTERS}", check=_runs_no_gpg),
        "count-objects": Program("v H", operands=()),
        "check-ignore": _view("q v n z --quiet --verbose --non-matching --no-index", parser=_NAMED),
        "check-attr": _view("a --all", parser=_NAMED),
        "version": Program("--build-options", operands=()),
        "branch": _view(
            "a r v i l --all --remotes --list --show-current --verbose --ignore-case --no-color --no-column",
            _REFS,
            f"--color --column --abbrev {_FILTERS}",
            check=_lists_refs,
        ),
        "tag": _view("l i --list --ignore-case", _REFS, f"n --color --column {_FILTERS}", check=_lists_tags),
        "remote": Program(
            "v --verbose",
            subcommands={"get-url": _view("--push --all", most=1)},
            bare=True,
            operands=(),
            parser=_remote,
        ),
        "stash": Program(
            subcommands={
                "list": _history(_shows(_patches)),
                "show": _difference(_shows(_always, paths=False), "--include-untracked --only-untracked"),
            }
        ),
        "worktree": Program(subcommands={"list": Program("v z --verbose --porcelain", operands=())}),
        "reflog": Program(
            _COMMITS + "--oneline --abbrev-commit --no-decorate --relative-date",
            _COMMITS_TEXTS,
            _COMMITS_MAYBE + "--pretty --format --decorate",
            numbers=True,
            check=_runs_no_gpg,
            subcommands={"show": _history(_shows(_patches))},
            bare=True,
        ),
        "submodule": Program(subcommands={"status": _view("--cached --recursive", parser=_NAMED)}, bare=True),
        "config": _view(
            "z --get --get-all --local --global --system --worktree --show-origin --show-scope --bool --int --path",
            "--type --default",
            parser=_config,
        ),
    }
)
