"""The subcommands of git that do more than look: only the roles of their words."""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType

from harness.permissions.programs.git_revisions import ShownContent, always, paths_of, read_limited
from harness.permissions.programs.git_views import DIFF, DIFF_MAYBE, TEXTS, checks_only
from harness.permissions.programs.grammar import ParsedCommand, Program, WordRole, WordUse, parse
from harness.permissions.shell.syntax import Word

_ADDRESS = re.compile(r"(https?|ssh|git|ftps?)://|[\w.-]+@[\w.-]+:", re.ASCII)


def _repositories(role: WordRole, program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    """The first operand is an address, or a folder of that role."""
    parsed = parse(replace(program, parser=None), words)
    if parsed is None or not parsed.operands or _ADDRESS.match(parsed.operands[0].text):
        return parsed
    first = parsed.operands[0]
    plain = Word(first.text.removeprefix("file://"), first.kind, home=first.home)
    return replace(parsed, program=program, uses=(*parsed.uses, WordUse(role, plain)))


def _checkout(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    """Operands are branches, revisions or paths that are written."""
    parsed = parse(replace(program, parser=None), words)
    if parsed is None:
        return None
    written = [WordUse(WordRole.WRITE, path, top) for word in parsed.operands for path, top in paths_of(word)]
    return replace(parsed, program=program, uses=(*parsed.uses, *written))


_MERGE = "--no-ff --ff --ff-only --squash --no-commit --commit --abort --continue --quit --no-edit --no-verify --stat "
_MERGE += "--no-stat --autostash --no-autostash --allow-unrelated-histories --signoff --no-rerere-autoupdate q v n e"
_NETWORK = "--all --tags --no-tags --prune --dry-run --quiet --verbose --progress --no-progress --force --atomic "
_NETWORK += "--ipv4 --ipv6 --no-verify q v f n"
ACTIONS: Mapping[str, Program] = MappingProxyType(
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
            check=checks_only,
        ),
        "am": Program(
            flags="s k u 3 q --signoff --keep --3way --quiet --abort --skip --continue --quit --no-verify --reject",
            texts="p C --directory --exclude --include --whitespace",
            looks=False,
        ),
        "rm": Program(
            flags="f n r q --force --dry-run --cached --ignore-unmatch --quiet --sparse",
            reads="--pathspec-from-file",
            operands=(WordRole.WRITE,),
            looks=False,
        ),
        "mv": Program(flags="f k n v --force --dry-run --verbose --sparse", operands=(WordRole.WRITE,), looks=False),
        "clean": Program(
            flags="d f i n q x X --force --interactive --dry-run --quiet",
            texts="e --exclude",
            operands=(WordRole.WRITE,),
            looks=False,
        ),
        "checkout": Program(
            flags="q f d l m p t --quiet --force --detach --merge --patch --track --no-track --guess --no-guess "
            "--ours --theirs --progress --no-progress --ignore-other-worktrees --overlay --no-overlay",
            texts="b B --orphan --conflict",
            reads="--pathspec-from-file",
            operands=TEXTS,
            looks=False,
            parser=_checkout,
        ),
        "restore": Program(
            flags="W S p q --worktree --staged --patch --quiet --ours --theirs --merge --ignore-unmerged --overlay "
            "--no-overlay --progress --no-progress",
            texts="s --source --conflict",
            reads="--pathspec-from-file",
            operands=TEXTS,
            looks=False,
            parser=_checkout,
        ),
        "switch": Program(
            flags="d f m q t --detach --force --discard-changes --merge --quiet --track --no-track --guess --no-guess "
            "--ignore-other-worktrees --progress --no-progress",
            texts="c C --create --force-create --orphan --conflict",
            operands=TEXTS,
            looks=False,
        ),
        "reset": Program(
            flags="q p N --soft --mixed --hard --merge --keep --quiet --patch --intent-to-add --no-refresh --refresh",
            reads="--pathspec-from-file",
            operands=TEXTS,
            looks=False,
            parser=_checkout,
        ),
        "merge": Program(
            flags=_MERGE,
            texts="m s X --message --strategy --strategy-option --cleanup --into-name",
            maybe="S --log --gpg-sign",
            reads="F --file",
            operands=TEXTS,
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
            operands=TEXTS,
            looks=False,
        ),
        "cherry-pick": Program(
            flags="e x n s --edit --no-commit --signoff --ff --continue --abort --skip --quit --allow-empty "
            "--keep-redundant-commits",
            texts="m X --mainline --strategy --strategy-option --cleanup",
            maybe="S --gpg-sign",
            operands=TEXTS,
            looks=False,
        ),
        "revert": Program(
            flags="e n s --edit --no-edit --no-commit --signoff --continue --abort --skip --quit",
            texts="m X --mainline --strategy --strategy-option --cleanup",
            maybe="S --gpg-sign",
            operands=TEXTS,
            looks=False,
        ),
        "init": Program(
            flags="q --quiet --bare",
            texts="b --initial-branch --object-format",
            maybe="--shared",
            writes="--separate-git-dir",
            executes="--template",
            operands=(WordRole.WRITE,),
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
            operands=(WordRole.TEXT, WordRole.WRITE),
            most=2,
            looks=False,
            parser=partial(_repositories, WordRole.READ),
        ),
        "fetch": Program(
            flags=_NETWORK + " a k p P t u --append --keep --unshallow --update-shallow --prune-tags --multiple",
            texts="j o --depth --deepen --shallow-since --shallow-exclude --refmap --jobs --filter --server-option",
            maybe="--recurse-submodules",
            commands="--upload-pack",
            operands=TEXTS,
            looks=False,
            parser=partial(_repositories, WordRole.READ),
        ),
        "pull": Program(
            flags=_NETWORK + " " + _MERGE + " r a k p t --no-rebase --unshallow",
            texts="s X j --strategy --strategy-option --depth --jobs",
            maybe="--rebase --recurse-submodules",
            commands="--upload-pack",
            operands=TEXTS,
            looks=False,
            parser=partial(_repositories, WordRole.READ),
        ),
        "push": Program(
            flags=_NETWORK
            + " d u --delete --mirror --set-upstream --follow-tags --no-follow-tags --no-force-with-lease "
            "--thin --no-thin --porcelain",
            texts="o --push-option",
            maybe="--force-with-lease --signed --recurse-submodules",
            commands="--receive-pack --exec",
            operands=TEXTS,
            looks=False,
            parser=partial(_repositories, WordRole.WRITE),
        ),
        "ls-remote": Program(
            flags="q h t --heads --tags --refs --quiet --exit-code --get-url --symref",
            texts="--sort",
            commands="--upload-pack",
            operands=TEXTS,
            looks=False,
            parser=partial(_repositories, WordRole.READ),
        ),
        "archive": Program(
            flags="l v 0 1 2 3 4 5 6 7 8 9 --list --verbose --worktree-attributes",
            texts="--format --prefix --mtime",
            reads="--add-file",
            writes="o --output",
            commands="--exec --remote",
            operands=TEXTS,
            looks=False,
            parser=partial(read_limited, ShownContent(always)),
        ),
        "bundle": Program(
            subcommands={
                "create": Program(
                    flags="q --all --quiet --progress --branches --tags",
                    operands=(WordRole.WRITE, WordRole.TEXT),
                    looks=False,
                ),
                "verify": Program(flags="q --quiet", looks=False),
                "list-heads": Program(operands=(WordRole.READ, WordRole.TEXT), looks=False),
                "unbundle": Program(operands=(WordRole.READ, WordRole.TEXT), looks=False),
            },
        ),
        "format-patch": Program(
            flags=DIFF + "n N k q --stdout --numbered --no-numbered --signoff --cover-letter --keep-subject --root",
            texts="v --subject-prefix --suffix --base --start-number",
            maybe=DIFF_MAYBE + "--attach --inline --thread --zero-commit",
            reads="--signature-file --description-file",
            writes="o --output-directory --output",
            operands=TEXTS,
            numbers=True,
            looks=False,
            parser=partial(read_limited, ShownContent(always)),
        ),
        "filter-branch": Program(
            flags="f --force --prune-empty",
            texts="--original --remap-to-ancestor --subdirectory-filter",
            commands="--setup --env-filter --tree-filter --index-filter --parent-filter --msg-filter --commit-filter "
            "--tag-name-filter",
            writes="d",
            operands=TEXTS,
            looks=False,
        ),
        **dict.fromkeys(
            ("difftool", "mergetool"),
            Program(
                flags="y g d --prompt --no-prompt --gui --no-gui --dir-diff --cached --staged",
                texts="t --tool",
                commands="x --extcmd",
                operands=TEXTS,
                looks=False,
                parser=partial(read_limited, ShownContent(always)),
            ),
        ),
        "hash-object": Program(
            flags="w --no-filters --literally", texts="t --path", reads="", operands=(WordRole.READ,), looks=False
        ),
        "update-index": Program(
            flags="q --add --remove --refresh --really-refresh --assume-unchanged --no-assume-unchanged "
            "--skip-worktree --no-skip-worktree --force-remove",
            texts="--chmod",
            looks=False,
        ),
    }
)
