"""git: the subcommands that only look, and the roles of the words of the others.

Most operands of git are revisions, paths, or both in one word (`HEAD~2:src/a.py`, `:0:.env`, `:(top)docs`). Which it is
depends on the repository, so every part of a word that may be a path counts as one.

What is not in the grammar: an abbreviated option, an option that runs a program (`--ext-diff`, `--show-signature`, `-O`
of grep), that reads names from its input (`--stdin`, `--batch`), that opens a manual (`--help`), or that another
version of git reads differently. Settings of the repository may still name programs that git runs while it looks;
`harness.git_safety` is about those.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType

from harness.git_safety import SIGNATURE, harmless_setting
from harness.permissions.names import names
from harness.permissions.programs.grammar import HERE, Parsed, Program, Role, Use, parse
from harness.permissions.shell.words import Word, WordKind

# ── before the subcommand ───────────────────────────────────────────────────────────────────────

_PLAIN = names(
    "--no-pager -P --no-optional-locks --literal-pathspecs --noglob-pathspecs --glob-pathspecs "
    "--no-replace-objects --no-lazy-fetch --no-advice"
)
_SHOWING = names("--version -v --help -h --html-path --man-path --info-path --exec-path")
_ELSEWHERE = ("--git-dir", "--work-tree", "--namespace", "--super-prefix", "--attr-source")


@dataclass(frozen=True, slots=True)
class GlobalOptions:
    """What the words before the subcommand of git say."""

    rest: tuple[Word, ...]
    """The subcommand and the words behind it."""
    folders: tuple[Word, ...] = ()
    """Each -C, in order."""
    showing: bool = False
    """git only shows something about itself; there is no subcommand."""
    plain: bool = True
    """There is nothing but what leaves a command that looks harmless."""
    elsewhere: bool = False
    """Another repository or work tree is named, whose settings git obeys."""
    opaque: bool = False
    """Settings or an option with which any command may stand behind the name of the subcommand."""


def global_options(words: tuple[Word, ...]) -> GlobalOptions:
    """Read the words behind `git` up to its subcommand."""
    folders: list[Word] = []
    plain, elsewhere, opaque, position = True, False, False, 0
    while position < len(words) and words[position].text.startswith("-") and not words[position].home:
        word = words[position]
        name, equals, _ = word.text.partition("=")
        value = words[position + 1] if position + 1 < len(words) else None
        position += 1
        if word.known and word.text in _PLAIN:
            continue
        if word.known and word.text in _SHOWING:
            plain = plain and value is None  # --help with a word opens a manual
            return GlobalOptions((), tuple(folders), showing=True, plain=plain, elsewhere=elsewhere, opaque=opaque)
        if word.known and word.text == "-C" and value is not None:
            folders.append(value)
            plain = plain and value.kind is WordKind.LITERAL
            opaque = opaque or value.kind is not WordKind.LITERAL
            position += 1
        elif word.known and word.text == "-c" and value is not None:
            harmless = value.known and _is_harmless(value.text)
            plain, opaque = plain and harmless, opaque or not harmless
            position += 1
        elif word.known and name in _ELSEWHERE:
            plain, elsewhere = False, True
            position += 0 if equals else 1
        elif word.known and word.text in ("--bare", "--paginate", "-p", "--icase-pathspecs"):
            plain = False
        else:
            plain, opaque = False, True
            position += 1 if word.text == "--config-env" else 0
    return GlobalOptions(words[position:], tuple(folders), plain=plain, elsewhere=elsewhere, opaque=opaque)


def _is_harmless(setting: str) -> bool:
    name, equals, value = setting.partition("=")
    return harmless_setting(name, value if equals else "true")


def _git(program: Program, words: tuple[Word, ...]) -> Parsed | None:
    given = global_options(words)
    if not given.plain:
        return None
    if not given.rest:
        return Parsed(program, folder=_folder(given.folders)) if given.showing or not words else None
    name, rest = given.rest[0], given.rest[1:]
    inner = program.subcommands.get(name.text) if name.known else None
    parsed = None if inner is None else parse(inner, rest)
    if parsed is None or not given.folders:
        return parsed
    folder = _folder(given.folders)
    if any(use.word.kind is WordKind.GLOB for use in parsed.uses):
        return None  # the shell looks for it in the current folder, git for what was found in another one
    moving = [use for use in parsed.uses if use.role is not Role.TEXT and use is not CONFIG_FILE]
    moved = [Use(use.role, _within(folder, use.word)) for use in moving]
    from_top = [use for use in parsed.uses if use.top]
    return replace(parsed, folder=folder, uses=(Use(Role.READ, folder), *moved, *from_top))


def _folder(folders: tuple[Word, ...]) -> Word:
    found = HERE
    for folder in folders:
        if folder.text:  # an empty one changes nothing
            found = _within(found, folder)
    return found


def _within(folder: Word, word: Word) -> Word:
    """A word that names a path in `folder`, as a path from the current folder."""
    if word.kind is not WordKind.LITERAL or word.home or word.text.startswith("/") or folder is HERE:
        return word
    return folder if word == HERE else Word(f"{folder.text}/{word.text}", home=folder.home)


# ── revisions and paths ─────────────────────────────────────────────────────────────────────────

_DASHES = Word("--")
_WILDCARD = re.compile(r"[*?\[\\]")
_MAGIC = re.compile(r":\(([^)]*)\)|:[/!^]+:?")
_CERTAIN = re.compile(r"\.?/|\.\.?(/|$)|.*(/$|[*?\[])", re.DOTALL)
"""What no revision looks like."""
_OBJECT = re.compile(r"[^:{}]*:(?![/!^(])[^{}]+", re.DOTALL)
"""A file or folder of a revision, or of the index."""
_FILE = re.compile(r":|^[0-9a-f]{4,64}$", re.IGNORECASE)
"""A part of the name of an object that may be a file."""
_REVISION = re.compile(r"(HEAD|@)([~^@][^/]*)?|[^/]*[^./]\.\.\.?[^./].*", re.DOTALL)
"""HEAD and what counts from it, and ranges. A folder of that name is not thought of."""


def _paths(word: Word) -> Iterator[tuple[Word, bool]]:
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


def _limit(word: Word) -> tuple[Word, bool] | None:
    """The file or folder that an operand limits git to, if it is a path; None where it only leaves something out."""
    magic = _MAGIC.match(word.text)
    if magic is not None and ("!" in magic[0] or "^" in magic[0] or "exclude" in magic[0]):
        return None
    top = magic is not None
    text = word.text[magic.end() :] if magic is not None else word.text
    wildcard = _WILDCARD.search(text)
    if wildcard is not None:
        text = text[: wildcard.start()].rpartition("/")[0] + ("/" if text.startswith("/") else "")
    return Word(text or ".", home=word.home), top


def _behind_dashes(parsed: Parsed, words: tuple[Word, ...]) -> int:
    """How many operands stand behind a -- that is not itself the value of an option."""
    for number, word in enumerate(words):
        if word == _DASHES and not any(value is word for _, value in parsed.options):
            return len(words) - number - 1
    return 0


@dataclass(frozen=True, slots=True)
class _Shown:
    """What a subcommand shows of the files that its operands name, or of all."""

    content: Callable[[Parsed], bool]
    """Content, and not only names."""
    whole: Role | None = Role.CHANGED
    """The role of the files that git tracks, where content is shown; None: only what operands name."""
    everywhere: bool = True
    """Without a path it is about the whole repository, not only about the current folder."""
    skips: int = 0
    """Operands in front that are text."""
    objects: bool = False
    """It shows a file or folder of a revision (HEAD:src) by itself, and does not compare it."""
    paths: bool = True
    """Operands may be paths that limit it; False: all are names of objects, behind a -- too."""


def _read(shown: _Shown, program: Program, words: tuple[Word, ...]) -> Parsed | None:
    """The words of a subcommand whose operands are revisions and paths."""
    parsed = parse(replace(program, parser=None), words)
    if parsed is None:
        return None
    operands = parsed.operands[0 if parsed.has(program.unless) else _certain(shown.skips, parsed.operands) :]
    if not program.permutes:
        operands = tuple(word for word in operands if word != _DASHES)
    if any(word.kind is WordKind.GLOB and ":" in word.text for word in operands):
        return None  # the shell does not know that a part of it is a path
    content = shown.content(parsed)
    # git has already changed to the top when it opens some of the files that options name.
    uses = [replace(use, top=use.role is Role.READ) for use in parsed.uses if use.role is not Role.TEXT]
    for word in operands:
        uses += [Use(Role.READ if content else Role.LIST, path, top) for path, top in _paths(word)]
    for name, value in parsed.options:
        if name == "-L" and value is not None and ":" in value.text:
            uses += [Use(Role.READ, path, top) for path, top in _paths(value) if path != value]
    if content and shown.whole is not None:
        uses += _limits(shown, shown.whole, operands, len(operands) - _behind_dashes(parsed, words))
    return replace(parsed, program=program, uses=tuple(uses))


def _certain(skips: int, operands: tuple[Word, ...]) -> int:
    """How many operands are text in front: a file pattern may be more than one word."""
    return skips if all(word.kind is not WordKind.GLOB for word in operands[:skips]) else 0


def _limits(shown: _Shown, whole: Role, operands: tuple[Word, ...], dashes: int) -> Iterator[Use]:
    """The files whose content is shown; everything where no operand is certain to limit it.

    `dashes`: how many operands stand before the --.
    """
    limited, commits = False, not operands
    for number, word in enumerate(operands):
        before = number < dashes or not shown.paths
        if "\0" in word.text:  # it stands for the output of another command
            yield Use(whole, word)
            commits = True
        elif shown.objects and before and _OBJECT.fullmatch(word.text):
            yield from (Use(whole, path, top) for path, top in _paths(word))
        elif (limit := _limit(word)) is not None:
            yield Use(whole, *limit)
            certain = shown.paths and (not before or _CERTAIN.match(word.text) is not None)
            limited, commits = limited or certain, commits or not certain
        else:
            commits = True
    if commits and not limited:
        yield Use(whole, HERE, shown.everywhere)


def _always(parsed: Parsed) -> bool:
    return True


def _never(parsed: Parsed) -> bool:
    return False


_PATCHES = (
    "p u c m U W G S L I --patch --unified --cc --function-context --word-diff --word-diff-regex --color-words --check "
    "--patch-with-raw --patch-with-stat --binary --color-moved"
)
_NAMES = "s --no-patch --stat --numstat --shortstat --summary --dirstat --name-only --name-status --raw --quiet"
_NAMES += " --dirstat-by-file --compact-summary --cumulative"


def _shows_patches(parsed: Parsed) -> bool:
    return parsed.has(_PATCHES)


def _shows_patches_unless_names(parsed: Parsed) -> bool:
    return parsed.has(_PATCHES) or not parsed.has(_NAMES)


def _shows_objects(parsed: Parsed) -> bool:
    """show prints the content of a file by its object, whatever else it is to show of commits."""
    return _shows_patches_unless_names(parsed) or any(_FILE.search(word.text) for word in parsed.operands)


def _runs_no_gpg(parsed: Parsed) -> bool:
    """No format of it asks for a signature."""
    return not any(
        value is not None and SIGNATURE.search(value.text)
        for name, value in parsed.options
        if name in ("--format", "--pretty", "--sort")
    )


# ── subcommands that look ───────────────────────────────────────────────────────────────────────

_DIFF = (
    "p u s R a b D W w z --patch --no-patch --raw --patch-with-raw --patch-with-stat --numstat --shortstat --summary "
    "--name-only --name-status --minimal --patience --histogram --indent-heuristic --no-indent-heuristic "
    "--compact-summary --cumulative --no-color --no-color-moved --no-renames --rename-empty --no-rename-empty --check "
    "--full-index --binary --find-copies-harder --irreversible-delete --pickaxe-all --pickaxe-regex --no-relative "
    "--text --ignore-cr-at-eol --ignore-space-at-eol --ignore-space-change --ignore-all-space --ignore-blank-lines "
    "--function-context --exit-code --quiet --no-ext-diff --no-textconv --no-prefix --ita-invisible-in-index "
    "--combined-all-paths --cc "
)
_DIFF_TEXTS = (
    "l S G I --stat-width --stat-name-width --stat-count --output-indicator-new --output-indicator-old "
    "--output-indicator-context --anchored --diff-algorithm --word-diff-regex --ws-error-highlight --diff-filter "
    "--find-object --ignore-matching-lines --inter-hunk-context --src-prefix --dst-prefix --line-prefix "
)
_DIFF_MAYBE = (
    "U B M C --unified --stat --dirstat --dirstat-by-file --color --color-moved --word-diff --color-words --abbrev "
    "--break-rewrites --find-renames --find-copies --relative --ignore-submodules "
)
_COMMITS = (
    "i E F P --all --merges --no-merges --first-parent --all-match --invert-grep --regexp-ignore-case --basic-regexp "
    "--extended-regexp --fixed-strings --perl-regexp --remove-empty --exclude-first-parent-only --not --reflog "
    "--single-worktree --ignore-missing --cherry-mark --cherry-pick --left-only --right-only --cherry --merge "
    "--boundary --simplify-by-decoration --show-pulls --full-history --dense --sparse --simplify-merges --date-order "
    "--author-date-order --topo-order --reverse --do-walk --no-min-parents --no-max-parents "
)
_COMMITS_TEXTS = "n --max-count --skip --since --after --until --before --author --committer --grep --grep-reflog "
_COMMITS_TEXTS += "--glob --exclude --date "
_COMMITS_MAYBE = "--branches --tags --remotes --no-walk --min-parents --max-parents --ancestry-path "
_LOG = (
    "c m q --oneline --graph --source --log-size --full-diff --no-decorate --clear-decorations --mailmap --no-mailmap "
    "--use-mailmap --no-use-mailmap --walk-reflogs --abbrev-commit --no-abbrev-commit --no-expand-tabs --no-notes "
    "--relative-date --parents --children --left-right --follow --no-follow --no-abbrev -t "
)
_LOG_TEXTS = "L --decorate-refs --decorate-refs-exclude --encoding "
_LOG_MAYBE = "--pretty --format --decorate --expand-tabs --notes --show-notes --show-linear-break "
_FILTERS = "--contains --no-contains --merged --no-merged --points-at"


_TEXT = (Role.TEXT,)
_NAMED = partial(_read, _Shown(_never))
"""Operands are revisions and paths, of which names are shown."""
_PATCHED = partial(_read, _Shown(_shows_patches))
_DIFFED = partial(_read, _Shown(_shows_patches_unless_names))


def _history(parser: Callable[[Program, tuple[Word, ...]], Parsed | None]) -> Program:
    """log and its like."""
    return Program(
        flags=_DIFF + _COMMITS + _LOG + "g",
        texts=_DIFF_TEXTS + _COMMITS_TEXTS + _LOG_TEXTS,
        maybe=_DIFF_MAYBE + _COMMITS_MAYBE + _LOG_MAYBE,
        operands=_TEXT,
        numbers=True,
        check=_runs_no_gpg,
        parser=parser,
    )


def _difference(parser: Callable[[Program, tuple[Word, ...]], Parsed | None], flags: str = "") -> Program:
    """diff and its like."""
    return Program(
        flags=_DIFF + flags, texts=_DIFF_TEXTS, maybe=_DIFF_MAYBE, operands=_TEXT, numbers=True, parser=parser
    )


def _diff(program: Program, words: tuple[Word, ...]) -> Parsed | None:
    """diff, which compares two files or folders outside of any repository, too."""
    parsed = _DIFFED(program, words)
    if parsed is None:
        return None
    outside = parsed.has("--no-index")
    if outside and len(parsed.operands) != 2:
        return None
    if outside or (len(parsed.operands) == 2 and not any(_REVISION.fullmatch(word.text) for word in parsed.operands)):
        return replace(parsed, uses=(*parsed.uses, *(Use(Role.TREE, word) for word in parsed.operands)))
    return parsed


_GREP_TREE = "--no-index --untracked --no-exclude-standard"


def _grep(program: Program, words: tuple[Word, ...]) -> Parsed | None:
    parsed = _SEARCHED(program, words)
    if parsed is None or not parsed.has(_GREP_TREE):
        return parsed
    operands = parsed.operands[0 if parsed.has(program.unless) else _certain(1, parsed.operands) :]
    return replace(parsed, uses=(*parsed.uses, *(Use(Role.TREE, word) for word in operands or (HERE,))))


_SEARCHED = partial(_read, _Shown(_always, Role.TRACKED, everywhere=False, skips=1))


def _lists_refs(parsed: Parsed) -> bool:
    """branch and tag without what would make one: a name needs an option with which it is a pattern."""
    return _runs_no_gpg(parsed) and (not parsed.operands or parsed.has("--list " + _FILTERS))


def _lists_tags(parsed: Parsed) -> bool:
    return _lists_refs(parsed) or (_runs_no_gpg(parsed) and parsed.has("l"))


_SHOWN_KEYS = re.compile(
    r"user\.(name|email)|author\.(name|email)|committer\.(name|email)|init\.defaultbranch|pull\.(rebase|ff)"
    r"|core\.(editor|pager|autocrlf|eol|filemode|bare|ignorecase|hookspath|excludesfile|attributesfile|quotepath|worktree"
    r"|symlinks|longpaths|fsmonitor|repositoryformatversion|logallrefupdates|precomposeunicode|safecrlf|abbrev)"
    r"|push\.(default|autosetupremote)|merge\.(ff|conflictstyle|tool)|diff\.(tool|algorithm|renames)|rebase\.autostash"
    r"|commit\.(gpgsign|template)|tag\.gpgsign|branch\..+\.(remote|merge|rebase|description)|branch\.sort"
    r"|remote\..+\.(url|pushurl|fetch)|remote\.pushdefault|submodule\..+\.(path|branch)|extensions\.[a-z]+",
    re.IGNORECASE | re.DOTALL,
)
"""Settings that hold no secret, or an address, of which `programs_in_config` knows whether it holds one."""


def _shows_a_plain_setting(parsed: Parsed) -> bool:
    """One name and no value: git prints what is set."""
    keys = parsed.operands
    return len(keys) == 1 and keys[0].known and _SHOWN_KEYS.fullmatch(keys[0].text) is not None


CONFIG_FILE = Use(Role.READ, Word(".git/config"), top=True)
"""The use of a command that prints addresses of the repository's configuration, which may hold a password."""


_BISECT_LOG = Use(Role.READ, Word(".git/BISECT_LOG"), top=True)


def _shows_file(use: Use, program: Program, words: tuple[Word, ...]) -> Parsed | None:
    """What prints a part of a file of git: as good as reading it."""
    parsed = parse(replace(program, parser=None), words)
    return None if parsed is None else replace(parsed, program=program, uses=(*parsed.uses, use))


def _config(program: Program, words: tuple[Word, ...]) -> Parsed | None:
    if words and words[0].known and words[0].text in ("get", "set", "unset"):
        found = program.subcommands.get(words[0].text)
        parsed = None if found is None else parse(found, words[1:])
    else:
        parsed = parse(replace(program, parser=None, subcommands={}), words)
        parsed = None if parsed is None else replace(parsed, program=program)
    if parsed is not None and any(word.text.lower().startswith(("remote.", "submodule.")) for word in parsed.operands):
        return replace(parsed, uses=(*parsed.uses, CONFIG_FILE))
    return parsed


def _checks_only(parsed: Parsed) -> bool:
    return parsed.has("--stat --numstat --summary --check")


_STATUS_FLAGS = "s b v z --short --branch --verbose --null --long --show-stash --ahead-behind --no-ahead-behind "
_STATUS_FLAGS += "--no-renames --renames"
_LISTING_REFS = "--sort --format"
_LOOKING: Mapping[str, Program] = MappingProxyType(
    {
        "status": Program(
            flags=_STATUS_FLAGS,
            maybe="u M --porcelain --untracked-files --ignored --ignore-submodules --column --find-renames",
            reads="--pathspec-from-file",
            operands=_TEXT,
            parser=partial(_read, _Shown(lambda parsed: parsed.has("v --verbose"))),
        ),
        "diff": _difference(_diff, "--cached --staged --merge-base --base --ours --theirs --no-index"),
        "diff-tree": _difference(
            _PATCHED, "r t c m v --root --no-commit-id --always --merge-base --pretty --oneline --abbrev-commit"
        ),
        "diff-index": _difference(_PATCHED, "m --cached --merge-base"),
        "diff-files": _difference(_PATCHED, "c q --base --ours --theirs"),
        "log": _history(_PATCHED),
        "whatchanged": _history(_PATCHED),
        "show": _history(partial(_read, _Shown(_shows_objects, objects=True))),
        "range-diff": Program(
            flags=_DIFF + "--no-dual-color --left-only --right-only",
            texts=_DIFF_TEXTS + "--creation-factor",
            maybe=_DIFF_MAYBE,
            operands=_TEXT,
            parser=partial(_read, _Shown(_always)),
        ),
        "rev-list": Program(
            flags=_COMMITS + "g --oneline --graph --abbrev-commit --no-abbrev-commit --parents --children --left-right "
            "--timestamp --count --objects --quiet --header --no-commit-header --walk-reflogs --no-object-names",
            texts=_COMMITS_TEXTS,
            maybe=_COMMITS_MAYBE + "--pretty --format --abbrev",
            operands=_TEXT,
            numbers=True,
            check=_runs_no_gpg,
            parser=_NAMED,
        ),
        "shortlog": Program(
            flags=_COMMITS + "n s e c --numbered --summary --email --committer",
            maybe=_COMMITS_MAYBE + "w --format",
            texts=_COMMITS_TEXTS.replace("n ", "").replace("--committer ", "") + "--group",
            operands=_TEXT,
            check=_runs_no_gpg,
            parser=_NAMED,
        ),
        "rev-parse": Program(
            flags="q --verify --quiet --short --symbolic --symbolic-full-name --abbrev-ref --show-toplevel --git-dir "
            "--absolute-git-dir --git-common-dir --is-inside-work-tree --is-inside-git-dir --is-bare-repository "
            "--is-shallow-repository --show-prefix --show-cdup --show-superproject-working-tree --all --branches "
            "--tags --remotes --not --revs-only --no-revs --flags --no-flags --sq --local-env-vars "
            "--show-object-format --shared-index-path",
            maybe="--short --abbrev-ref --branches --tags --remotes --show-object-format --path-format",
            texts="--git-path --default",
            operands=_TEXT,
        ),
        "ls-files": Program(
            flags="c d m o i s u k z t v f --cached --deleted --modified --others --ignored --stage --unmerged "
            "--killed --directory --no-empty-directory --deduplicate --exclude-standard --error-unmatch --full-name "
            "--debug --eol --sparse --recurse-submodules",
            maybe="--abbrev",
            texts="x --exclude --with-tree --format",
            reads="X --exclude-from --exclude-per-directory",
            operands=_TEXT,
            parser=_NAMED,
        ),
        "ls-tree": Program(
            flags="d r t l z --long --name-only --name-status --object-only --full-name --full-tree",
            maybe="--abbrev",
            texts="--format",
            operands=_TEXT,
            parser=_NAMED,
        ),
        "blame": Program(
            flags="b l t p c f n s e w --root --show-stats --first-parent --porcelain --line-porcelain --incremental "
            "--progress --no-progress --color-lines --color-by-age --score-debug --show-name --show-number "
            "--show-email --minimal",
            maybe="M C --abbrev",
            texts="L --date --since --ignore-rev --encoding",
            reads="S --contents --ignore-revs-file",
            operands=_TEXT,
            parser=partial(_read, _Shown(_always, None)),
        ),
        "cat-file": Program(
            flags="t s e p --mailmap --no-mailmap --use-mailmap --no-use-mailmap",
            operands=_TEXT,
            most=2,
            parser=partial(_read, _Shown(lambda parsed: not parsed.has("t s e"), objects=True, paths=False)),
        ),
        "grep": Program(
            flags="a i I r w v h H E G P F n l L z o c p W q --cached --no-index --untracked --no-exclude-standard "
            "--exclude-standard --text --no-textconv --ignore-case --recursive --no-recursive --word-regexp "
            "--invert-match --full-name --extended-regexp --basic-regexp --perl-regexp --fixed-strings --line-number "
            "--column --files-with-matches --name-only --files-without-match --null --only-matching --count "
            "--no-color --break --heading --show-function --function-context --and --or --not --all-match --quiet",
            maybe="--color",
            texts="C A B m e --context --after-context --before-context --max-count --max-depth --threads",
            reads="f",
            unless="e f",
            operands=(Role.TEXT, Role.TEXT),
            permutes=False,
            numbers=True,
            parser=_grep,
        ),
        "describe": Program(
            flags="--all --tags --contains --exact-match --debug --long --always --first-parent",
            maybe="--dirty --broken --abbrev",
            texts="--candidates --match --exclude",
            operands=_TEXT,
        ),
        "name-rev": Program(
            flags="--tags --all --name-only --no-undefined --always --undefined",
            texts="--refs --exclude",
            operands=_TEXT,
        ),
        "merge-base": Program(flags="a --all --octopus --is-ancestor --independent --fork-point", operands=_TEXT),
        "cherry": Program(flags="v", maybe="--abbrev", operands=_TEXT),
        "show-branch": Program(
            flags="r a --remotes --all --current --topo-order --date-order --sparse --list --independent --no-name "
            "--sha1-name --topics --merge-base --no-color",
            maybe="g --more --color --reflog",
            operands=_TEXT,
        ),
        "show-ref": Program(
            flags="q s d --head --heads --tags --branches --verify --dereference --quiet",
            maybe="--hash --abbrev",
            operands=_TEXT,
        ),
        "for-each-ref": Program(
            flags="s p --shell --perl --python --tcl --ignore-case --omit-empty",
            maybe="--color " + _FILTERS,
            texts="--count --exclude " + _LISTING_REFS,
            operands=_TEXT,
            check=_runs_no_gpg,
        ),
        "count-objects": Program(flags="v H --verbose --human-readable", operands=()),
        "check-ignore": Program(
            flags="q v n z --quiet --verbose --non-matching --no-index", operands=_TEXT, parser=_NAMED
        ),
        "check-attr": Program(flags="a z --all --cached", operands=_TEXT, parser=_NAMED),
        "version": Program(flags="--build-options", operands=()),
        "branch": Program(
            flags="a r v i l --all --remotes --list --show-current --verbose --ignore-case --no-color --no-column "
            "--no-abbrev",
            maybe="--color --column --abbrev " + _FILTERS,
            texts=_LISTING_REFS,
            operands=_TEXT,
            check=_lists_refs,
        ),
        "tag": Program(
            flags="l i --list --ignore-case --no-column",
            maybe="n --color --column " + _FILTERS,
            texts=_LISTING_REFS,
            operands=_TEXT,
            check=_lists_tags,
        ),
        "remote": Program(
            flags="v --verbose",
            subcommands={"get-url": Program(flags="--push --all", operands=_TEXT, most=1)},
            bare=True,
            parser=partial(_shows_file, CONFIG_FILE),
        ),
        "stash": Program(
            subcommands={
                "list": _history(_PATCHED),
                "show": _difference(
                    partial(_read, _Shown(_always, paths=False)),
                    "--include-untracked --only-untracked --no-include-untracked",
                ),
            }
        ),
        "worktree": Program(subcommands={"list": Program(flags="v z --verbose --porcelain", operands=())}),
        "reflog": Program(
            flags=_COMMITS + "--oneline --abbrev-commit --no-abbrev-commit --no-decorate --relative-date",
            texts=_COMMITS_TEXTS,
            maybe=_COMMITS_MAYBE + "--pretty --format --decorate",
            numbers=True,
            check=_runs_no_gpg,
            subcommands={"show": _history(_PATCHED)},
            bare=True,
        ),
        "notes": Program(
            subcommands={"list": Program(operands=_TEXT, most=1), "show": Program(operands=_TEXT, most=1)},
            bare=True,
        ),
        "bisect": Program(subcommands={"log": Program(operands=(), parser=partial(_shows_file, _BISECT_LOG))}),
        "submodule": Program(
            flags="q --quiet --cached",
            subcommands={"status": Program(flags="--cached --recursive", operands=_TEXT, parser=_NAMED)},
            bare=True,
        ),
        "config": Program(
            flags="z --get --get-all --local --global --system --worktree --null --show-origin --show-scope --bool "
            "--int --path --includes --no-includes --name-only",
            texts="--type --default",
            operands=_TEXT,
            check=_shows_a_plain_setting,
            subcommands={
                "get": Program(
                    flags="z --all --local --global --system --worktree --null --show-origin --show-scope --show-names",
                    texts="--type --default",
                    operands=_TEXT,
                    check=_shows_a_plain_setting,
                )
            },
            parser=_config,
        ),
    }
)

# ── subcommands that do more: only the roles of their words ─────────────────────────────────────

_ADDRESS = re.compile(r"(https?|ssh|git|ftps?)://|[\w.-]+@[\w.-]+:", re.ASCII)


def _repositories(role: Role, program: Program, words: tuple[Word, ...]) -> Parsed | None:
    """The first operand is an address, or a folder of that role."""
    parsed = parse(replace(program, parser=None), words)
    if parsed is None or not parsed.operands or _ADDRESS.match(parsed.operands[0].text):
        return parsed
    first = parsed.operands[0]
    plain = Word(first.text.removeprefix("file://"), first.kind, home=first.home)
    return replace(parsed, program=program, uses=(*parsed.uses, Use(role, plain)))


def _checkout(program: Program, words: tuple[Word, ...]) -> Parsed | None:
    """Operands are branches, revisions or paths that are written."""
    parsed = parse(replace(program, parser=None), words)
    if parsed is None:
        return None
    written = [Use(Role.WRITE, path, top) for word in parsed.operands for path, top in _paths(word)]
    return replace(parsed, program=program, uses=(*parsed.uses, *written))


_MERGE = "--no-ff --ff --ff-only --squash --no-commit --commit --abort --continue --quit --no-edit --no-verify --stat "
_MERGE += "--no-stat --autostash --no-autostash --allow-unrelated-histories --signoff --no-rerere-autoupdate q v n e"
_NETWORK = "--all --tags --no-tags --prune --dry-run --quiet --verbose --progress --no-progress --force --atomic "
_NETWORK += "--ipv4 --ipv6 --no-verify q v f n"
_ACTING: Mapping[str, Program] = MappingProxyType(
    {
        "add": Program(
            flags="n v f i p e u A N --dry-run --verbose --force --interactive --patch --edit --update --all --no-all "
            "--ignore-removal --intent-to-add --refresh --ignore-errors --ignore-missing --renormalize --sparse",
            texts="--chmod",
            reads="--pathspec-from-file",
            looks=False,
        ),
        "commit": Program(
            flags="a p s e n v q z o i --all --patch --signoff --no-signoff --edit --no-edit --amend --no-verify "
            "--verify --allow-empty --allow-empty-message --reset-author --quiet --verbose --dry-run --short "
            "--branch --porcelain --no-status --status --include --only --no-gpg-sign --no-post-rewrite",
            texts="m c C --message --author --date --fixup --squash --reuse-message --reedit-message --trailer "
            "--cleanup",
            maybe="u S --untracked-files --gpg-sign",
            reads="F t --file --template --pathspec-from-file",
            looks=False,
        ),
        "apply": Program(
            flags="R v q 3 --stat --numstat --summary --check --index --cached --reverse --reject --verbose --quiet "
            "--allow-empty --recount --unidiff-zero --ignore-whitespace --ignore-space-change --allow-overlap",
            acts="--apply --3way --intent-to-add",
            texts="p C --directory --exclude --include --whitespace",
            check=_checks_only,
        ),
        "am": Program(
            flags="s k u 3 q --signoff --keep --3way --quiet --abort --skip --continue --quit --no-verify --reject",
            texts="p C --directory --exclude --include --whitespace",
            looks=False,
        ),
        "rm": Program(
            flags="f n r q --force --dry-run --cached --ignore-unmatch --quiet --sparse",
            reads="--pathspec-from-file",
            operands=(Role.WRITE,),
            looks=False,
        ),
        "mv": Program(flags="f k n v --force --dry-run --verbose --sparse", operands=(Role.WRITE,), looks=False),
        "clean": Program(
            flags="d f i n q x X --force --interactive --dry-run --quiet",
            texts="e --exclude",
            operands=(Role.WRITE,),
            looks=False,
        ),
        "checkout": Program(
            flags="q f d l m p t --quiet --force --detach --merge --patch --track --no-track --guess --no-guess "
            "--ours --theirs --progress --no-progress --ignore-other-worktrees --overlay --no-overlay",
            texts="b B --orphan --conflict",
            reads="--pathspec-from-file",
            operands=_TEXT,
            looks=False,
            parser=_checkout,
        ),
        "restore": Program(
            flags="W S p q --worktree --staged --patch --quiet --ours --theirs --merge --ignore-unmerged --overlay "
            "--no-overlay --progress --no-progress",
            texts="s --source --conflict",
            reads="--pathspec-from-file",
            operands=_TEXT,
            looks=False,
            parser=_checkout,
        ),
        "switch": Program(
            flags="d f m q t --detach --force --discard-changes --merge --quiet --track --no-track --guess --no-guess "
            "--ignore-other-worktrees --progress --no-progress",
            texts="c C --create --force-create --orphan --conflict",
            operands=_TEXT,
            looks=False,
        ),
        "reset": Program(
            flags="q p N --soft --mixed --hard --merge --keep --quiet --patch --intent-to-add --no-refresh --refresh",
            reads="--pathspec-from-file",
            operands=_TEXT,
            looks=False,
            parser=_checkout,
        ),
        "merge": Program(
            flags=_MERGE,
            texts="m s X --message --strategy --strategy-option --cleanup --into-name",
            maybe="S --log --gpg-sign",
            reads="F --file",
            operands=_TEXT,
            looks=False,
        ),
        "rebase": Program(
            flags="i q v n f r k --interactive --continue --abort --skip --quit --edit-todo --show-current-patch "
            "--keep-base --no-ff --force-rebase --autosquash --no-autosquash --autostash --no-autostash --root "
            "--update-refs --no-update-refs --no-verify --quiet --verbose --stat --no-stat --fork-point "
            "--no-fork-point --signoff",
            texts="s X C --onto --strategy --strategy-option --empty --whitespace",
            maybe="S --rebase-merges --gpg-sign",
            commands="x --exec",
            operands=_TEXT,
            looks=False,
        ),
        "cherry-pick": Program(
            flags="e x n s --edit --no-commit --signoff --ff --continue --abort --skip --quit --allow-empty "
            "--keep-redundant-commits",
            texts="m X --mainline --strategy --strategy-option --cleanup",
            maybe="S --gpg-sign",
            operands=_TEXT,
            looks=False,
        ),
        "revert": Program(
            flags="e n s --edit --no-edit --no-commit --signoff --continue --abort --skip --quit",
            texts="m X --mainline --strategy --strategy-option --cleanup",
            maybe="S --gpg-sign",
            operands=_TEXT,
            looks=False,
        ),
        "init": Program(
            flags="q --quiet --bare",
            texts="b --initial-branch --object-format",
            maybe="--shared",
            writes="--separate-git-dir",
            executes="--template",
            operands=(Role.WRITE,),
            most=1,
            looks=False,
        ),
        "clone": Program(
            flags="l n q v s --local --no-local --no-checkout --quiet --verbose --progress --bare --mirror "
            "--no-hardlinks --shared --dissociate --single-branch --no-single-branch --no-tags --remote-submodules "
            "--shallow-submodules --sparse --recursive",
            texts="o b j --origin --branch --depth --shallow-since --shallow-exclude --jobs --filter",
            maybe="--recurse-submodules",
            reads="--reference --reference-if-able",
            writes="--separate-git-dir",
            executes="--template",
            commands="u c --upload-pack --config",
            operands=(Role.TEXT, Role.WRITE),
            most=2,
            looks=False,
            parser=partial(_repositories, Role.READ),
        ),
        "fetch": Program(
            flags=_NETWORK + " a k p P t u --append --keep --unshallow --update-shallow --prune-tags --multiple",
            texts="j o --depth --deepen --shallow-since --shallow-exclude --refmap --jobs --filter --server-option",
            maybe="--recurse-submodules",
            commands="--upload-pack",
            operands=_TEXT,
            looks=False,
            parser=partial(_repositories, Role.READ),
        ),
        "pull": Program(
            flags=_NETWORK + " " + _MERGE + " r a k p t --no-rebase --unshallow",
            texts="s X j --strategy --strategy-option --depth --jobs",
            maybe="--rebase --recurse-submodules",
            commands="--upload-pack",
            operands=_TEXT,
            looks=False,
            parser=partial(_repositories, Role.READ),
        ),
        "push": Program(
            flags=_NETWORK
            + " d u --delete --mirror --set-upstream --follow-tags --no-follow-tags --no-force-with-lease "
            "--thin --no-thin --porcelain",
            texts="o --push-option",
            maybe="--force-with-lease --signed --recurse-submodules",
            commands="--receive-pack --exec",
            operands=_TEXT,
            looks=False,
            parser=partial(_repositories, Role.WRITE),
        ),
        "ls-remote": Program(
            flags="q h t --heads --tags --refs --quiet --exit-code --get-url --symref",
            texts="--sort",
            commands="--upload-pack",
            operands=_TEXT,
            looks=False,
            parser=partial(_repositories, Role.READ),
        ),
        "archive": Program(
            flags="l v 0 1 2 3 4 5 6 7 8 9 --list --verbose --worktree-attributes",
            texts="--format --prefix --mtime",
            reads="--add-file",
            writes="o --output",
            commands="--exec --remote",
            operands=_TEXT,
            looks=False,
            parser=partial(_read, _Shown(_always)),
        ),
        "bundle": Program(
            subcommands={
                "create": Program(
                    flags="q --all --quiet --progress --branches --tags", operands=(Role.WRITE, Role.TEXT), looks=False
                ),
                "verify": Program(flags="q --quiet", looks=False),
                "list-heads": Program(operands=(Role.READ, Role.TEXT), looks=False),
                "unbundle": Program(operands=(Role.READ, Role.TEXT), looks=False),
            },
        ),
        "format-patch": Program(
            flags=_DIFF + "n N k q --stdout --numbered --no-numbered --signoff --cover-letter --keep-subject --root",
            texts="v --subject-prefix --suffix --base --start-number",
            maybe=_DIFF_MAYBE + "--attach --inline --thread --zero-commit",
            reads="--signature-file --description-file",
            writes="o --output-directory --output",
            operands=_TEXT,
            numbers=True,
            looks=False,
            parser=partial(_read, _Shown(_always)),
        ),
        "filter-branch": Program(
            flags="f --force --prune-empty",
            texts="--original --remap-to-ancestor --subdirectory-filter",
            commands="--setup --env-filter --tree-filter --index-filter --parent-filter --msg-filter --commit-filter "
            "--tag-name-filter",
            writes="d",
            operands=_TEXT,
            looks=False,
        ),
        **dict.fromkeys(
            ("difftool", "mergetool"),
            Program(
                flags="y g d --prompt --no-prompt --gui --no-gui --dir-diff --cached --staged",
                texts="t --tool",
                commands="x --extcmd",
                operands=_TEXT,
                looks=False,
                parser=partial(_read, _Shown(_always)),
            ),
        ),
        "hash-object": Program(
            flags="w --no-filters --literally", texts="t --path", reads="", operands=(Role.READ,), looks=False
        ),
        "update-index": Program(
            flags="q --add --remove --refresh --really-refresh --assume-unchanged --no-assume-unchanged "
            "--skip-worktree --no-skip-worktree --force-remove",
            texts="--chmod",
            looks=False,
        ),
    }
)
_SUBCOMMANDS: Mapping[str, Program] = MappingProxyType(
    {
        **_LOOKING,
        **_ACTING,
        "annotate": _LOOKING["blame"],
        "stage": _ACTING["add"],
        "stash": replace(
            _LOOKING["stash"],
            subcommands={
                **_LOOKING["stash"].subcommands,
                **dict.fromkeys(
                    ("apply", "pop", "drop", "clear", "branch"), Program(flags="q --index", operands=_TEXT, looks=False)
                ),
                "push": Program(
                    flags="p k u a q S --patch --keep-index --no-keep-index --include-untracked --all --staged --quiet",
                    texts="m --message",
                    reads="--pathspec-from-file",
                    operands=(Role.WRITE,),
                    looks=False,
                ),
            },
        ),
        "bisect": replace(
            _LOOKING["bisect"],
            subcommands={
                **_LOOKING["bisect"].subcommands,
                **dict.fromkeys(
                    ("start", "good", "bad", "old", "new", "skip", "reset", "next"),
                    Program(operands=_TEXT, looks=False),
                ),
                "replay": Program(looks=False),
                "run": Program(operands=(Role.COMMAND,), permutes=False, looks=False),
            },
        ),
        "submodule": replace(
            _LOOKING["submodule"],
            subcommands={
                **_LOOKING["submodule"].subcommands,
                "foreach": Program(
                    flags="--recursive --quiet", operands=(Role.COMMAND,), permutes=False, free=True, looks=False
                ),
                "update": Program(
                    flags="N f --init --recursive --remote --force --checkout --merge --rebase --no-fetch",
                    texts="--depth --jobs",
                    reads="--reference",
                    operands=(Role.WRITE,),
                    looks=False,
                ),
                **dict.fromkeys(("init", "deinit", "sync"), Program(flags="f --all --recursive", looks=False)),
            },
        ),
        "worktree": replace(
            _LOOKING["worktree"],
            subcommands={
                **_LOOKING["worktree"].subcommands,
                "add": Program(
                    flags="f d q --force --detach --checkout --no-checkout --lock --quiet --track --no-track --orphan",
                    texts="b B --reason",
                    operands=(Role.WRITE, Role.TEXT),
                    looks=False,
                ),
                "remove": Program(flags="f --force", operands=(Role.WRITE,), looks=False),
                "move": Program(flags="f --force", operands=(Role.WRITE,), looks=False),
                "prune": Program(flags="n v --dry-run --verbose", operands=(), looks=False),
            },
        ),
    }
)
"""By name. A subcommand that is missing here is not in the grammar, an alias of the user's among them."""


# ── lists of files ──────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Listing:
    """A command of git that prints nothing but names of files that it tracks, one in each line."""

    patterns: tuple[str, ...] = ()
    """Pathspecs of git to which it is limited; empty: all files below `folder`."""
    folder: Word = HERE
    """Where it works, from the current folder."""
    top: bool = False
    """The names count from the top of the repository, and all of its files are meant."""


def listing_of(parsed: Parsed) -> Listing | None:
    """Which tracked files a command that only looks may print; None where it may print something else."""
    patterns, folder = tuple(word.text for word in parsed.operands), parsed.folder or HERE
    if not parsed.looks or not all(word.known for word in parsed.operands):
        return None
    if parsed.program is _LOOKING["ls-files"]:
        plain = all(name in _PLAIN_LISTING for name, _ in parsed.options)
        return Listing(patterns, folder) if plain else None
    if parsed.program is _LOOKING["diff"]:
        # With a revision it prints names of files that may not be tracked any more.
        plain = parsed.has("--name-only") and all(
            name in ("--name-only", "--diff-filter") for name, _ in parsed.options
        )
        return Listing((), folder, top=True) if plain and not patterns else None
    if parsed.program is _LOOKING["grep"]:
        given = {name for name, _ in parsed.options}
        if not given & _NAMES_OF_GREP or not given <= _NAMES_OF_GREP | _WAYS_OF_GREP:
            return None
        limits = patterns if given & {"-e", "-f"} else patterns[1:]
        if limits[:1] == ("--",):
            return Listing(limits[1:], folder)
        # A revision may be among them, and is printed before each name.
        return Listing(limits, folder) if all(map(_CERTAIN.match, limits)) else None
    return None


_PLAIN_LISTING = names("-c -m -z --cached --modified --deduplicate --error-unmatch")
_NAMES_OF_GREP = names("-l -L --files-with-matches --name-only --files-without-match")
_WAYS_OF_GREP = names(
    "-e -f -a -i -I -w -v -E -G -P -F -z --text --ignore-case --word-regexp --invert-match --extended-regexp "
    "--basic-regexp --perl-regexp --fixed-strings --null --no-color --all-match --and --or --not"
)

PROGRAMS: Mapping[str, Program] = MappingProxyType(
    {"git": Program(subcommands=_SUBCOMMANDS, bare=True, operands=_TEXT, parser=_git)}
)
