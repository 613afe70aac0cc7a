"""Programs that pack and unpack: archives, and packed files in the place of others."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

from harness.permissions.name_sets import names
from harness.permissions.programs.grammar import HERE, ParsedCommand, Program, WordUse
from harness.permissions.programs.parsers import (
    FOLLOWED,
    READ,
    TEXT,
    TREE,
    WRITE,
    Parser,
    and_uses,
    changed_in_place,
    joined,
    named,
    plain,
    writer,
)
from harness.permissions.shell.syntax import Word


def _old_style(values: str) -> Callable[[tuple[Word, ...]], tuple[Word, ...] | None]:
    """`tar xzf a.tar` as `tar -x -z -f a.tar`: each letter with a value takes one of the words that follow."""

    def rewritten(words: tuple[Word, ...]) -> tuple[Word, ...] | None:
        if not words or words[0].text.startswith("-"):
            return words
        if not words[0].known or not words[0].text.isalpha():
            return None
        rest, found = list(words[1:]), []
        for letter in words[0].text:
            found.append(Word(f"-{letter}"))
            if letter in values:
                if not rest:
                    return None
                found.append(rest.pop(0))
        return (*found, *rest)

    return rewritten


_TAR_VALUES = "bCfFgHIKLNTVX"
_TAR_LISTS = names(
    "-t --list -f --file -v --verbose -z --gzip --gunzip --ungzip -j --bzip2 -J --xz --zstd --lzma -a --auto-compress "
    "--full-time --numeric-owner --utc --wildcards --no-wildcards --anchored --no-anchored --show-transformed-names "
    "--force-local"
)
"""Options with which tar lists an archive and does nothing else."""
_TAR = Program(
    flags="AcdtruxaBGhijJkmlMnOpPRsSUvwWzZ --append --create --list --extract --get --update --diff --compare "
    "--concatenate --catenate --delete --verbose --gzip --gunzip --ungzip --bzip2 --xz --lzma --lzip --lzop --zstd "
    "--compress --auto-compress --no-auto-compress --keep-old-files --keep-newer-files --skip-old-files --overwrite "
    "--unlink-first --recursive-unlink --dereference --hard-dereference --no-recursion --recursion "
    "--preserve-permissions --same-permissions --no-same-permissions --same-owner --no-same-owner --numeric-owner "
    "--touch --sparse --one-file-system --to-stdout --totals --verify --null --no-null --verbatim-files-from "
    "--exclude-vcs --exclude-vcs-ignores --exclude-caches --exclude-backups --wildcards --no-wildcards --anchored "
    "--no-anchored --ignore-case --full-time --utc --show-transformed-names --force-local --absolute-names "
    "--ignore-failed-read --remove-files --no-overwrite-dir --xattrs --acls --selinux --multi-volume --interactive "
    "--one-top-level --checkpoint",
    texts="b H K L N V --blocking-factor --format --starting-file --tape-length --newer --label --exclude "
    "--strip-components --transform --xform --owner --group --mode --mtime --sort --record-size --quoting-style "
    "--occurrence --pax-option --newer-mtime --after-date --exclude-ignore",
    reads="X --exclude-from --owner-map --group-map --add-file",
    lists="C --directory",
    executes="T F --files-from --info-script --new-volume-script",
    commands="I --use-compress-program --checkpoint-action --to-command --rsh-command --rmt-command",
    writes="f g --file --listed-incremental --index-file --volno-file",
    operands=(TEXT,),
    looks=True,
)
"""-T obeys options that it finds in its file. On BSD, -I is -T; either way, something else decides what it does."""
_TAR_MODES = {
    **dict.fromkeys(("-t", "--list"), "list"),
    **dict.fromkeys(("-x", "--extract", "--get"), "extract"),
    **dict.fromkeys(("-c", "--create"), "create"),
    **dict.fromkeys(("-r", "--append", "-u", "--update"), "append"),
    **dict.fromkeys(("-A", "--concatenate", "--catenate"), "append"),
    **dict.fromkeys(("-d", "--diff", "--compare"), "compare"),
    "--delete": "delete",
}


def _tar(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    rewritten = _old_style(_TAR_VALUES)(words)
    parsed = None if rewritten is None else plain(program, rewritten)
    if parsed is None:
        return None
    modes = {_TAR_MODES[name] for name, _ in parsed.options if name in _TAR_MODES}
    if len(modes) != 1:
        return None
    [mode] = modes
    archives = [value for name, value in parsed.options if name in ("-f", "--file") and value is not None]
    folder = HERE
    for name, value in parsed.options:
        if name in ("-C", "--directory") and value is not None:
            folder = joined(folder, value)
    uses = [use for use in parsed.uses if use.role is not WRITE or use.word not in archives]
    if mode != "create":
        uses += [WordUse(READ, archive) for archive in archives]
    if mode in ("create", "append", "delete"):
        uses += [WordUse(WRITE, archive) for archive in archives]
    if mode in ("create", "append", "compare"):
        role = FOLLOWED if parsed.has("h --dereference") else TREE
        uses += [WordUse(role, joined(folder, word)) for word in parsed.operands]
        uses += [WordUse(WRITE, word) for word in parsed.operands if parsed.has("--remove-files")]
    if mode == "extract":
        uses += [WordUse(WRITE, folder), *(WordUse(WRITE, joined(folder, word)) for word in parsed.operands)]
    # host:archive is fetched by a program of the user, or one that a variable names.
    lists = (
        mode == "list"
        and len(archives) == 1
        and named(archives)
        and ":" not in archives[0].text
        and all(name in _TAR_LISTS for name, _ in parsed.options)
    )
    return replace(parsed, uses=tuple(uses), acts=not lists)


def _zip(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    """zip follows links unless -y is given."""
    parsed = plain(program, words)
    if parsed is None or not parsed.operands:
        return None
    role = READ if not parsed.has("r R") else TREE if parsed.has("y") else FOLLOWED
    archive, files = parsed.operands[0], parsed.operands[1:]
    own = [use for use in parsed.uses if use.word not in parsed.operands]
    uses = [*own, WordUse(WRITE, archive), WordUse(READ, archive), *(WordUse(role, word) for word in files)]
    uses += [WordUse(WRITE, word) for word in files if parsed.has("m")]
    return replace(parsed, uses=tuple(uses))


def _unzip(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    parsed = plain(program, words)
    if parsed is None or not parsed.operands:
        return None
    archive = parsed.operands[0]
    # It looks for a.zip where there is no a, and matches * and ? in its name by itself.
    uses = [WordUse(READ, replace(archive, text=f"{archive.text}.zip"))]
    lists = program is _ZIPINFO or parsed.has("c l p t v z Z")
    if not lists and not parsed.has("d"):
        uses.append(WordUse(WRITE, HERE))
    plainly = named([archive]) and not re.search(r"[*?\[\\]", archive.text)
    return replace(and_uses(parsed, uses), acts=parsed.acts or not lists or not plainly)


_UNZIP = Program(
    flags="lvptczaqCjLsVXZ",
    acts="fuonbKMWDB:U",
    texts="P x",
    writes="d",
    operands=(READ, TEXT),
    parser=_unzip,
)
_ZIPINFO = Program(flags="12smlvhtzTMC", operands=(READ, TEXT), parser=_unzip)


_SHOWING = "c l t --list --test --stdout --to-stdout"
"""Options with which a packer changes no file."""


def _packs(suffix: str, others: str) -> Parser:
    """Programs that put a packed or unpacked file in the place of another one, unless they only show it.

    `suffix`: of the files that it makes; `others`: of those that it unpacks as well.
    """

    def read(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
        parsed = plain(program, words)
        # Of several modes the last one counts: xz -t -z packs.
        another = parsed is not None and parsed.has("d z --decompress --uncompress --compress")
        if parsed is None or parsed.has("c --stdout --to-stdout" if another else _SHOWING):
            return parsed
        written = []
        for word in parsed.operands:
            stem, dot, ending = word.text.rpartition(".")
            unpacks = dot and ending in (suffix, *others.split())
            written += [word, replace(word, text=stem if unpacks else f"{word.text}.{suffix}")]
        return replace(and_uses(parsed, [WordUse(WRITE, word) for word in written]), acts=True)

    return read


_GZIP = Program(
    flags="123456789cdfhklnNqtvV --stdout --to-stdout --decompress --uncompress --force --keep --list --name "
    "--no-name --quiet --test --verbose --fast --best --version --help",
    texts="S b --suffix",
    follow="r --recursive",
    parser=_packs("gz", "z Z tgz"),
)
_XZ = Program(
    flags="0123456789cdefhkltqQvVz --stdout --to-stdout --decompress --uncompress --compress --force --keep --list "
    "--test --quiet --verbose --extreme --version --help --fast --best --robot --single-stream --no-sparse",
    texts="C F M S T --check --format --memlimit --memlimit-compress --memlimit-decompress --suffix --threads "
    "--block-size",
    executes="--files --files0",
    parser=_packs("xz", "lzma lz txz"),
)
_ZSTD = Program(
    flags="0123456789cdklqtvVhzC --stdout --decompress --uncompress --compress --keep --list --test --quiet "
    "--verbose --ultra --version --help --check --no-check --single-thread --sparse --no-sparse --no-progress",
    texts="T M B --threads --format --memory",
    maybe="--long --fast --adapt",
    reads="D --patch-from",
    writes="o --output-dir-flat --output-dir-mirror",
    executes="--filelist",
    acts="--rm",
    follow="rf --force",
    parser=_packs("zst", "zstd gz xz lz4 lzma"),
)
_LZ4 = Program(
    flags="123456789cdfklmqtvVzhH --stdout --decompress --force --keep --list --multiple --rm --test --quiet --verbose "
    "--version --best --fast --favor-decSpeed --content-size",
    texts="B",
    reads="D",
    tree="r",
    last=WRITE,
    looks=False,
    parser=changed_in_place,
)


def _ar(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    """`ar t lib.a` lists. `ar p` may print any file: a thin archive only names its members."""
    if not words or not words[0].known or any(word.text[:1] == "@" or word.text[:2] == "--" for word in words):
        return None
    keys, rest = words[0].text.lstrip("-"), words[1:]
    if not re.fullmatch(r"[dmpqrstx][a-zA-Z]*", keys):
        return None
    if keys[0] in "mr" and set(keys) & set("abi") and rest:
        rest = rest[1:]
    if not rest:
        return None
    archive, members = rest[0], rest[1:]
    uses = [WordUse(READ, archive)]
    if keys[0] in "dmqrs":
        uses.append(WordUse(WRITE, archive))
    if keys[0] in "qr":
        uses += [WordUse(READ, word) for word in members]
    if keys[0] == "x":
        uses += [WordUse(WRITE, word) for word in (HERE, *members)]
    lists = re.fullmatch(r"t[vO]*", keys) and named(rest)
    return ParsedCommand(program, operands=rest, uses=tuple(uses), acts=not lists)


_JAR_LISTS = names("-t --list -f --file -v --verbose")


def _jar(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    rewritten = _old_style("fme")(words)
    if rewritten is None or any(word.text[:1] == "@" for word in rewritten):
        return None
    parsed = plain(program, rewritten)
    if parsed is None:
        return None
    uses = list(parsed.uses)
    lists = all(name in _JAR_LISTS for name, _ in parsed.options) and parsed.has("t --list") and named(words)
    if lists:
        uses = [WordUse(READ, use.word) if use.role is WRITE else use for use in uses]
    else:
        uses += [WordUse(READ, use.word) for use in parsed.uses if use.role is WRITE]
        uses += [WordUse(TREE, word) for word in parsed.operands] + [WordUse(WRITE, HERE)]
    return replace(parsed, uses=tuple(uses), acts=not lists)


def _cpio(parsed: ParsedCommand) -> bool:
    return parsed.has("t --list") and not parsed.operands


_SEVEN = Program(
    flags="yr -aoa -aos -aou -aot -bd -slt -so -si -sdel",
    texts="m p t v",
    reads="i x",
    writes="o w",
    operands=(TEXT, WRITE, TREE),
    looks=False,
    parser=lambda program, words: (
        (found := changed_in_place(program, words)) and and_uses(found, [WordUse(WRITE, HERE)])
    ),
)


PROGRAMS: Mapping[str, Program] = MappingProxyType(
    {
        **dict.fromkeys(("tar", "gtar", "bsdtar"), replace(_TAR, parser=_tar)),
        "zip": Program(
            flags="0123456789AcDdeFfgjJkLlmoqrRSTuvwXyz@ -FF -db -dc -dd -dg -du -dv -fd -fz -ic -la -ll -MM -nw -sc "
            "-sd -sf -so -sp -su -sU -sv -UN -ws",
            texts="P n s t -tt i x --exclude --include",
            writes="O b --out --temp-path -lf",
            commands="-TT --unzip-command",
            looks=False,
            parser=_zip,
        ),
        "unzip": _UNZIP,
        "zipinfo": _ZIPINFO,
        **dict.fromkeys(("7z", "7za", "7zz"), _SEVEN),
        "unrar": Program(flags="yr -o+ -o-", texts="p x", operands=(TEXT, READ, WRITE), default=True, looks=False),
        **dict.fromkeys(("gzip", "gunzip"), _GZIP),
        **dict.fromkeys(("bzip2", "bunzip2"), replace(_GZIP, parser=_packs("bz2", "bz tbz tbz2"))),
        **dict.fromkeys(("xz", "unxz", "lzma", "unlzma"), _XZ),
        **dict.fromkeys(("zstd", "unzstd"), _ZSTD),
        **dict.fromkeys(("lz4", "unlz4"), _LZ4),
        "compress": writer("cfkvd", texts="b"),
        "uncompress": writer("cfkv"),
        "zcat": Program(flags="fqv"),
        "gzcat": Program(flags="fqv"),
        "bzcat": Program(flags="qs"),
        "xzcat": Program(flags="fqv"),
        "zstdcat": Program(flags="fqv"),
        "ar": Program(parser=_ar),
        "jar": Program(
            flags="tcxuv0MPnk --list --verbose --create --extract --update --no-manifest --no-compress",
            texts="e --main-class --module-version --date",
            reads="m --manifest",
            writes="f --file --dir",
            operands=(TEXT,),
            parser=_jar,
        ),
        "cpio": Program(
            flags="itv --extract --list --verbose --quiet --numeric-uid-gid",
            acts="opdmLlruaA0Bcfkns --create --pass-through --make-directories --null --unconditional --dereference",
            texts="H C R --format",
            reads="--pattern-file",
            writes="F I O E D --file --directory",
            commands="--rsh-command",
            operands=(WRITE,),
            check=_cpio,
        ),
    }
)
