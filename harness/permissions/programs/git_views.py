"""The subcommands of git that only look."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType

from harness.permissions.programs.git_revisions import (
    REVISION,
    ShownContent,
    always,
    certain_texts,
    never,
    read_limited,
    runs_no_gpg,
    shows_objects,
    shows_patches,
    shows_patches_unless_names,
)
from harness.permissions.programs.grammar import HERE, ParsedCommand, Program, WordRole, WordUse, parse
from harness.permissions.shell.syntax import Word

DIFF = (
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
DIFF_MAYBE = (
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


TEXTS = (WordRole.TEXT,)
_NAMED = partial(read_limited, ShownContent(never))
"""Operands are revisions and paths; their names are shown."""
_PATCHED = partial(read_limited, ShownContent(shows_patches))
_DIFFED = partial(read_limited, ShownContent(shows_patches_unless_names))


def _history(parser: Callable[[Program, tuple[Word, ...]], ParsedCommand | None]) -> Program:
    """log and its like."""
    return Program(
        flags=DIFF + _COMMITS + _LOG + "g",
        texts=_DIFF_TEXTS + _COMMITS_TEXTS + _LOG_TEXTS,
        maybe=DIFF_MAYBE + _COMMITS_MAYBE + _LOG_MAYBE,
        operands=TEXTS,
        numbers=True,
        check=runs_no_gpg,
        parser=parser,
    )


def _difference(parser: Callable[[Program, tuple[Word, ...]], ParsedCommand | None], flags: str = "") -> Program:
    """diff and its like."""
    return Program(flags=DIFF + flags, texts=_DIFF_TEXTS, maybe=DIFF_MAYBE, operands=TEXTS, numbers=True, parser=parser)


def _diff(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    """diff, which compares two files or folders outside of any repository, too."""
    parsed = _DIFFED(program, words)
    if parsed is None:
        return None
    outside = parsed.has("--no-index")
    if outside and len(parsed.operands) != 2:
        return None
    if outside or (len(parsed.operands) == 2 and not any(REVISION.fullmatch(word.text) for word in parsed.operands)):
        return replace(parsed, uses=(*parsed.uses, *(WordUse(WordRole.TREE, word) for word in parsed.operands)))
    return parsed


_GREP_TREE = "--no-index --untracked --no-exclude-standard"


def _grep(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    parsed = _SEARCHED(program, words)
    if parsed is None or not parsed.has(_GREP_TREE):
        return parsed
    operands = parsed.operands[0 if parsed.has(program.unless) else certain_texts(1, parsed.operands) :]
    return replace(parsed, uses=(*parsed.uses, *(WordUse(WordRole.TREE, word) for word in operands or (HERE,))))


_SEARCHED = partial(read_limited, ShownContent(always, WordRole.TRACKED, everywhere=False, skips=1))


def _lists_refs(parsed: ParsedCommand) -> bool:
    """branch and tag without what would make one: a name needs an option with which it is a pattern."""
    return runs_no_gpg(parsed) and (not parsed.operands or parsed.has("--list " + _FILTERS))


def _lists_tags(parsed: ParsedCommand) -> bool:
    return _lists_refs(parsed) or (runs_no_gpg(parsed) and parsed.has("l"))


_SHOWN_KEYS = re.compile(
    r"user\.(name|email)|author\.(name|email)|committer\.(name|email)|init\.defaultbranch|pull\.(rebase|ff)"
    r"|core\.(editor|pager|autocrlf|eol|filemode|bare|ignorecase|hookspath|excludesfile|attributesfile|quotepath|worktree"
    r"|symlinks|longpaths|fsmonitor|repositoryformatversion|logallrefupdates|precomposeunicode|safecrlf|abbrev)"
    r"|push\.(default|autosetupremote)|merge\.(ff|conflictstyle|tool)|diff\.(tool|algorithm|renames)|rebase\.autostash"
    r"|commit\.(gpgsign|template)|tag\.gpgsign|branch\..+\.(remote|merge|rebase|description)|branch\.sort"
    r"|remote\..+\.(url|pushurl|fetch)|remote\.pushdefault|submodule\..+\.(path|branch)|extensions\.[a-z]+",
    re.IGNORECASE | re.DOTALL,
)
"""Settings that hold no secret, or an address that `programs_in_config` checks for one."""


def _shows_a_plain_setting(parsed: ParsedCommand) -> bool:
    """One name and no value: git prints the value."""
    keys = parsed.operands
    return len(keys) == 1 and keys[0].known and _SHOWN_KEYS.fullmatch(keys[0].text) is not None


CONFIG_FILE = WordUse(WordRole.READ, Word(".git/config"), top=True)
"""The use of a command that prints addresses of the repository's configuration, which may hold a password."""


_BISECT_LOG = WordUse(WordRole.READ, Word(".git/BISECT_LOG"), top=True)


def _shows_file(use: WordUse, program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    """What prints a part of a file of git: as good as reading it."""
    parsed = parse(replace(program, parser=None), words)
    return None if parsed is None else replace(parsed, program=program, uses=(*parsed.uses, use))


def _config(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    if words and words[0].known and words[0].text in ("get", "set", "unset"):
        found = program.subcommands.get(words[0].text)
        parsed = None if found is None else parse(found, words[1:])
    else:
        parsed = parse(replace(program, parser=None, subcommands={}), words)
        parsed = None if parsed is None else replace(parsed, program=program)
    if parsed is not None and any(word.text.lower().startswith(("remote.", "submodule.")) for word in parsed.operands):
        return replace(parsed, uses=(*parsed.uses, CONFIG_FILE))
    return parsed


def checks_only(parsed: ParsedCommand) -> bool:
    return parsed.has("--stat --numstat --summary --check")


_STATUS_FLAGS = "s b v z --short --branch --verbose --null --long --show-stash --ahead-behind --no-ahead-behind "
_STATUS_FLAGS += "--no-renames --renames"
_LISTING_REFS = "--sort --format"
VIEWS: Mapping[str, Program] = MappingProxyType(
    {
        "status": Program(
            flags=_STATUS_FLAGS,
            maybe="u M --porcelain --untracked-files --ignored --ignore-submodules --column --find-renames",
            reads="--pathspec-from-file",
            operands=TEXTS,
            parser=partial(read_limited, ShownContent(lambda parsed: parsed.has("v --verbose"))),
        ),
        "diff": _difference(_diff, "--cached --staged --merge-base --base --ours --theirs --no-index"),
        "diff-tree": _difference(
            _PATCHED, "r t c m v --root --no-commit-id --always --merge-base --pretty --oneline --abbrev-commit"
        ),
        "diff-index": _difference(_PATCHED, "m --cached --merge-base"),
        "diff-files": _difference(_PATCHED, "c q --base --ours --theirs"),
        "log": _history(_PATCHED),
        "whatchanged": _history(_PATCHED),
        "show": _history(partial(read_limited, ShownContent(shows_objects, objects=True))),
        "range-diff": Program(
            flags=DIFF + "--no-dual-color --left-only --right-only",
            texts=_DIFF_TEXTS + "--creation-factor",
            maybe=DIFF_MAYBE,
            operands=TEXTS,
            parser=partial(read_limited, ShownContent(always)),
        ),
        "rev-list": Program(
            flags=_COMMITS + "g --oneline --graph --abbrev-commit --no-abbrev-commit --parents --children --left-right "
            "--timestamp --count --objects --quiet --header --no-commit-header --walk-reflogs --no-object-names",
            texts=_COMMITS_TEXTS,
            maybe=_COMMITS_MAYBE + "--pretty --format --abbrev",
            operands=TEXTS,
            numbers=True,
            check=runs_no_gpg,
            parser=_NAMED,
        ),
        "shortlog": Program(
            flags=_COMMITS + "n s e c --numbered --summary --email --committer",
            maybe=_COMMITS_MAYBE + "w --format",
            texts=_COMMITS_TEXTS.replace("n ", "").replace("--committer ", "") + "--group",
            operands=TEXTS,
            check=runs_no_gpg,
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
            operands=TEXTS,
        ),
        "ls-files": Program(
            flags="c d m o i s u k z t v f --cached --deleted --modified --others --ignored --stage --unmerged "
            "--killed --directory --no-empty-directory --deduplicate --exclude-standard --error-unmatch --full-name "
            "--debug --eol --sparse --recurse-submodules",
            maybe="--abbrev",
            texts="x --exclude --with-tree --format",
            reads="X --exclude-from --exclude-per-directory",
            operands=TEXTS,
            parser=_NAMED,
        ),
        "ls-tree": Program(
            flags="d r t l z --long --name-only --name-status --object-only --full-name --full-tree",
            maybe="--abbrev",
            texts="--format",
            operands=TEXTS,
            parser=_NAMED,
        ),
        "blame": Program(
            flags="b l t p c f n s e w --root --show-stats --first-parent --porcelain --line-porcelain --incremental "
            "--progress --no-progress --color-lines --color-by-age --score-debug --show-name --show-number "
            "--show-email --minimal",
            maybe="M C --abbrev",
            texts="L --date --since --ignore-rev --encoding",
            reads="S --contents --ignore-revs-file",
            operands=TEXTS,
            parser=partial(read_limited, ShownContent(always, None)),
        ),
        "cat-file": Program(
            flags="t s e p --mailmap --no-mailmap --use-mailmap --no-use-mailmap",
            operands=TEXTS,
            most=2,
            parser=partial(
                read_limited, ShownContent(lambda parsed: not parsed.has("t s e"), objects=True, paths=False)
            ),
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
            operands=(WordRole.TEXT, WordRole.TEXT),
            permutes=False,
            numbers=True,
            parser=_grep,
        ),
        "describe": Program(
            flags="--all --tags --contains --exact-match --debug --long --always --first-parent",
            maybe="--dirty --broken --abbrev",
            texts="--candidates --match --exclude",
            operands=TEXTS,
        ),
        "name-rev": Program(
            flags="--tags --all --name-only --no-undefined --always --undefined",
            texts="--refs --exclude",
            operands=TEXTS,
        ),
        "merge-base": Program(flags="a --all --octopus --is-ancestor --independent --fork-point", operands=TEXTS),
        "cherry": Program(flags="v", maybe="--abbrev", operands=TEXTS),
        "show-branch": Program(
            flags="r a --remotes --all --current --topo-order --date-order --sparse --list --independent --no-name "
            "--sha1-name --topics --merge-base --no-color",
            maybe="g --more --color --reflog",
            operands=TEXTS,
        ),
        "show-ref": Program(
            flags="q s d --head --heads --tags --branches --verify --dereference --quiet",
            maybe="--hash --abbrev",
            operands=TEXTS,
        ),
        "for-each-ref": Program(
            flags="s p --shell --perl --python --tcl --ignore-case --omit-empty",
            maybe="--color " + _FILTERS,
            texts="--count --exclude " + _LISTING_REFS,
            operands=TEXTS,
            check=runs_no_gpg,
        ),
        "count-objects": Program(flags="v H --verbose --human-readable", operands=()),
        "check-ignore": Program(
            flags="q v n z --quiet --verbose --non-matching --no-index", operands=TEXTS, parser=_NAMED
        ),
        "check-attr": Program(flags="a z --all --cached", operands=TEXTS, parser=_NAMED),
        "version": Program(flags="--build-options", operands=()),
        "branch": Program(
            flags="a r v i l --all --remotes --list --show-current --verbose --ignore-case --no-color --no-column "
            "--no-abbrev",
            maybe="--color --column --abbrev " + _FILTERS,
            texts=_LISTING_REFS,
            operands=TEXTS,
            check=_lists_refs,
        ),
        "tag": Program(
            flags="l i --list --ignore-case --no-column",
            maybe="n --color --column " + _FILTERS,
            texts=_LISTING_REFS,
            operands=TEXTS,
            check=_lists_tags,
        ),
        "remote": Program(
            flags="v --verbose",
            subcommands={"get-url": Program(flags="--push --all", operands=TEXTS, most=1)},
            bare=True,
            parser=partial(_shows_file, CONFIG_FILE),
        ),
        "stash": Program(
            subcommands={
                "list": _history(_PATCHED),
                "show": _difference(
                    partial(read_limited, ShownContent(always, paths=False)),
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
            check=runs_no_gpg,
            subcommands={"show": _history(_PATCHED)},
            bare=True,
        ),
        "notes": Program(
            subcommands={"list": Program(operands=TEXTS, most=1), "show": Program(operands=TEXTS, most=1)},
            bare=True,
        ),
        "bisect": Program(subcommands={"log": Program(operands=(), parser=partial(_shows_file, _BISECT_LOG))}),
        "submodule": Program(
            flags="q --quiet --cached",
            subcommands={"status": Program(flags="--cached --recursive", operands=TEXTS, parser=_NAMED)},
            bare=True,
        ),
        "config": Program(
            flags="z --get --get-all --local --global --system --worktree --null --show-origin --show-scope --bool "
            "--int --path --includes --no-includes --name-only",
            texts="--type --default",
            operands=TEXTS,
            check=_shows_a_plain_setting,
            subcommands={
                "get": Program(
                    flags="z --all --local --global --system --worktree --null --show-origin --show-scope --show-names",
                    texts="--type --default",
                    operands=TEXTS,
                    check=_shows_a_plain_setting,
                )
            },
            parser=_config,
        ),
    }
)
