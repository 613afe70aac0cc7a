"""Programs that change files, pack them or send them elsewhere: roles of their words, for rules.

Nearly none of them ever only looks. What their tables are for is that a rule about a place binds every program: with
`deny read(~/.ssh/**)`, `cp ~/.ssh/id_rsa k`, `ln -s ~/.ssh k` and `tar cf k.tar ~/.ssh` are as much about it as `cat`.
So a word whose role is not certain counts as read; only what cannot be a path is TEXT.
"""

import posixpath
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from urllib.parse import unquote

from harness.permissions.names import names
from harness.permissions.programs.grammar import HERE, Parsed, Program, Role, Use, parse
from harness.permissions.shell.words import Word, WordKind

COMMAND, EXECUTE, FOLLOWED, LIST = Role.COMMAND, Role.EXECUTE, Role.FOLLOWED, Role.LIST
READ, TEXT, TREE, WRITE = Role.READ, Role.TEXT, Role.TREE, Role.WRITE

Parser = Callable[[Program, tuple[Word, ...]], Parsed | None]


def plain(program: Program, words: tuple[Word, ...]) -> Parsed | None:
    """Read the words by the tables of the program, without its own parser."""
    return parse(replace(program, parser=None), words)


def and_uses(parsed: Parsed, uses: Iterable[Use]) -> Parsed:
    """The same command with further uses."""
    return replace(parsed, uses=(*parsed.uses, *uses))


def joined(folder: Word, name: Word) -> Word:
    """A path that counts from a folder."""
    if name.home or name.text.startswith("/") or folder.text == ".":
        return name
    kinds = (folder.kind, name.kind)
    kind = next((one for one in (WordKind.UNKNOWN, WordKind.PIPE, WordKind.GLOB) if one in kinds), WordKind.LITERAL)
    return Word(f"{folder.text.rstrip('/')}/{name.text}", kind, home=folder.home)


def named(words: Iterable[Word]) -> bool:
    """The words are what they say, not the names that another command lists: what is in those is not seen here."""
    return all(word.known and "\0" not in word.text for word in words)


def changed_in_place(program: Program, words: tuple[Word, ...]) -> Parsed | None:
    """What is written is read as well: by an editor, a database, a program that packs a file where it is."""
    parsed = plain(program, words)
    return parsed and and_uses(parsed, [Use(READ, use.word) for use in parsed.uses if use.role is WRITE])


# ── cp, mv, ln, install, rsync ──────────────────────────────────────────────────────────────────

_FOLDER = "-t --target-directory"


def _copies(*, changes: str = "") -> Parser:
    """Programs with sources and a destination, which may be a folder: then the file there has the name of its source.

    `changes`: options with which the sources are changed or removed as well; "always": they are.
    """

    def read(program: Program, words: tuple[Word, ...]) -> Parsed | None:
        parsed = plain(program, words)
        if parsed is None:
            return None
        folders = [value for name, value in parsed.options if name in _FOLDER.split() and value is not None]
        sources = parsed.operands if folders or len(parsed.operands) < 2 else parsed.operands[:-1]
        target = folders[-1] if folders else parsed.operands[-1] if len(parsed.operands) > 1 else HERE
        uses = [Use(WRITE, HERE)] if target is HERE else []
        for source in sources:
            name = posixpath.basename(source.text.rstrip("/"))
            if source.kind is not WordKind.PIPE and name not in ("", ".", ".."):
                uses.append(Use(WRITE, joined(target, Word(name, source.kind))))
        if changes and (changes == "always" or parsed.has(changes)):
            uses += [Use(WRITE, source) for source in sources]
        return and_uses(parsed, uses)

    return read


_COPY = Program(
    flags="bfilnpPsTuvxZ --force --link --interactive --no-clobber --no-dereference --one-file-system --parents "
    "--verbose --strip-trailing-slashes --symbolic-link --no-target-directory --attributes-only --remove-destination "
    "--copy-contents --debug",
    texts="S --suffix --sparse --no-preserve",
    maybe="--backup --preserve --reflink --update --context",
    writes=_FOLDER,
    tree="Rad --recursive --archive",
    follow="rLH --dereference",
    last=WRITE,
    unless=_FOLDER,
    looks=False,
    parser=_copies(),
)
"""On BSD, -r follows links, which -R does not."""
_MOVE = Program(
    flags="bfinuvTZhx --force --interactive --no-clobber --verbose --strip-trailing-slashes --no-target-directory "
    "--exchange --no-copy --debug",
    texts="S --suffix",
    maybe="--backup --update --context",
    writes=_FOLDER,
    operands=(TREE,),
    last=WRITE,
    unless=_FOLDER,
    looks=False,
    parser=_copies(changes="always"),
)
_LINK = Program(
    flags="bdFfhinLPrsTvw --directory --force --interactive --logical --no-dereference --physical --relative "
    "--symbolic --no-target-directory --verbose",
    texts="S --suffix",
    maybe="--backup",
    writes=_FOLDER,
    operands=(TREE,),
    last=WRITE,
    unless=_FOLDER,
    looks=False,
    parser=_copies(),
)
"""Who has a link to a folder has all that is in it."""
_INSTALL = Program(
    flags="bcCpTvZ --compare --preserve-timestamps --no-target-directory --verbose",
    texts="g m o S --group --mode --owner --suffix",
    maybe="--backup --context",
    writes=_FOLDER,
    executes="--strip-program",
    acts="dDs --directory --strip",
    last=WRITE,
    unless=_FOLDER,
    looks=False,
    parser=_copies(changes="d --directory"),
)
_RSYNC = Program(
    flags="vqcbudKHpEogtDOJSnWxPzhiAUNX468y --verbose --quiet --checksum --update --dry-run --progress --stats "
    "--compress --human-readable --partial --perms --owner --group --times --devices --specials --hard-links "
    "--acls --xattrs --sparse --whole-file --one-file-system --existing --ignore-existing --size-only --delete "
    "--delete-before --delete-during --delete-delay --delete-after --delete-excluded --delete-missing-args --del "
    "--force --inplace --append --append-verify --mkpath --list-only --itemize-changes --numeric-ids --cvs-exclude "
    "--prune-empty-dirs --from0 --safe-links --munge-links --relative --backup --no-motd --omit-dir-times "
    "--ignore-times --fuzzy --no-perms --no-owner --no-group --no-times --remove-source-files --ipv4 --ipv6",
    texts="B M --exclude --include --max-size --min-size --bwlimit --timeout --contimeout --port --suffix --chmod "
    "--chown --info --debug --out-format --block-size --compress-level --modify-window --max-delete --usermap "
    "--groupmap --address --protocol --checksum-choice --compress-choice --skip-compress --iconv --stop-after",
    reads="--files-from --exclude-from --include-from --compare-dest --copy-dest --link-dest --password-file "
    "--early-input --read-batch",
    writes="T --log-file --backup-dir --temp-dir --partial-dir --write-batch --only-write-batch",
    executes="--config",
    commands="e f --rsh --rsync-path --filter",
    tree="arlR --archive --recursive --links",
    follow="Lk --copy-links --copy-dirlinks --copy-unsafe-links",
    last=WRITE,
    looks=False,
    parser=_copies(changes="--remove-source-files"),
)
_SCP = Program(
    flags="346ABCOpqRTv",
    texts="c J l P X",
    reads="i",
    executes="D F S",
    commands="o",
    follow="r",
    last=WRITE,
    looks=False,
    parser=_copies(),
)


# ── dd ──────────────────────────────────────────────────────────────────────────────────────────

_DD_TEXTS = names("bs cbs conv count ibs iflag iseek obs oflag oseek seek skip status")


def _dd(program: Program, words: tuple[Word, ...]) -> Parsed | None:
    uses = []
    for word in words:
        name, equals, value = word.text.partition("=")
        role = {"if": READ, "of": WRITE}.get(name, TEXT if name in _DD_TEXTS else None)
        if not equals or role is None:
            return None
        if word.kind is WordKind.UNKNOWN and re.fullmatch(r"~/[\w./-]+", value):
            # bash puts the home folder there, other shells do not.
            uses += [Use(role, Word(value, home=True)), Use(role, Word(value))]
        elif word.known:
            uses.append(Use(role, Word(value)))
        else:
            return None
    return Parsed(program, operands=words, uses=tuple(uses))


def _splits(program: Program, words: tuple[Word, ...]) -> Parsed | None:
    """What is written has only the beginning of its name in a word."""
    parsed = plain(program, words)
    if parsed is None:
        return None
    prefixes = [use.word for use in parsed.uses if use.role is WRITE]
    folders = [replace(word, text=posixpath.dirname(word.text) or ".") for word in prefixes] or [HERE]
    return and_uses(parsed, [Use(WRITE, folder) for folder in folders])


# ── archives ────────────────────────────────────────────────────────────────────────────────────


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


def _tar(program: Program, words: tuple[Word, ...]) -> Parsed | None:
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
        uses += [Use(READ, archive) for archive in archives]
    if mode in ("create", "append", "delete"):
        uses += [Use(WRITE, archive) for archive in archives]
    if mode in ("create", "append", "compare"):
        role = FOLLOWED if parsed.has("h --dereference") else TREE
        uses += [Use(role, joined(folder, word)) for word in parsed.operands]
        uses += [Use(WRITE, word) for word in parsed.operands if parsed.has("--remove-files")]
    if mode == "extract":
        uses += [Use(WRITE, folder), *(Use(WRITE, joined(folder, word)) for word in parsed.operands)]
    # host:archive is fetched by a program of the user, or one that a variable names.
    lists = (
        mode == "list"
        and len(archives) == 1
        and named(archives)
        and ":" not in archives[0].text
        and all(name in _TAR_LISTS for name, _ in parsed.options)
    )
    return replace(parsed, uses=tuple(uses), acts=not lists)


def _zip(program: Program, words: tuple[Word, ...]) -> Parsed | None:
    """zip follows links unless -y is given."""
    parsed = plain(program, words)
    if parsed is None or not parsed.operands:
        return None
    role = READ if not parsed.has("r R") else TREE if parsed.has("y") else FOLLOWED
    archive, files = parsed.operands[0], parsed.operands[1:]
    own = [use for use in parsed.uses if use.word not in parsed.operands]
    uses = [*own, Use(WRITE, archive), Use(READ, archive), *(Use(role, word) for word in files)]
    uses += [Use(WRITE, word) for word in files if parsed.has("m")]
    return replace(parsed, uses=tuple(uses))


def _unzip(program: Program, words: tuple[Word, ...]) -> Parsed | None:
    parsed = plain(program, words)
    if parsed is None or not parsed.operands:
        return None
    archive = parsed.operands[0]
    # It looks for a.zip where there is no a, and matches * and ? in its name by itself.
    uses = [Use(READ, replace(archive, text=f"{archive.text}.zip"))]
    lists = program is _ZIPINFO or parsed.has("c l p t v z Z")
    if not lists and not parsed.has("d"):
        uses.append(Use(WRITE, HERE))
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

    def read(program: Program, words: tuple[Word, ...]) -> Parsed | None:
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
        return replace(and_uses(parsed, [Use(WRITE, word) for word in written]), acts=True)

    return read


def _shows(flags: str) -> Program:
    """zcat and its like."""
    return Program(flags=flags)


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


def _ar(program: Program, words: tuple[Word, ...]) -> Parsed | None:
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
    uses = [Use(READ, archive)]
    if keys[0] in "dmqrs":
        uses.append(Use(WRITE, archive))
    if keys[0] in "qr":
        uses += [Use(READ, word) for word in members]
    if keys[0] == "x":
        uses += [Use(WRITE, word) for word in (HERE, *members)]
    lists = re.fullmatch(r"t[vO]*", keys) and named(rest)
    return Parsed(program, operands=rest, uses=tuple(uses), acts=not lists)


_JAR_LISTS = names("-t --list -f --file -v --verbose")


def _jar(program: Program, words: tuple[Word, ...]) -> Parsed | None:
    rewritten = _old_style("fme")(words)
    if rewritten is None or any(word.text[:1] == "@" for word in rewritten):
        return None
    parsed = plain(program, rewritten)
    if parsed is None:
        return None
    uses = list(parsed.uses)
    lists = all(name in _JAR_LISTS for name, _ in parsed.options) and parsed.has("t --list") and named(words)
    if lists:
        uses = [Use(READ, use.word) if use.role is WRITE else use for use in uses]
    else:
        uses += [Use(READ, use.word) for use in parsed.uses if use.role is WRITE]
        uses += [Use(TREE, word) for word in parsed.operands] + [Use(WRITE, HERE)]
    return replace(parsed, uses=tuple(uses), acts=not lists)


def _cpio(parsed: Parsed) -> bool:
    return parsed.has("t --list") and not parsed.operands


# ── programs of which not every word is understood ──────────────────────────────────────────────


def loose(writes: str = "", executes: str = "", commands: str = "", last: Role | None = None) -> Parser:
    """Programs with options of their own kind: every word that is not an option counts as read, and what
    follows the first : = or @ in it.

    `writes`, `executes`, `commands`: options with one dash, whose value is the next word. `last`: the role of the last
    word besides. An option with a value in it is not understood.
    """
    roles = {
        **dict.fromkeys(writes.split(), WRITE),
        **dict.fromkeys(executes.split(), EXECUTE),
        **dict.fromkeys(commands.split(), COMMAND),
    }

    def read(program: Program, words: tuple[Word, ...]) -> Parsed | None:
        uses, operands = [], []
        role = READ
        for word in words:
            if word.kind is WordKind.UNKNOWN:
                return None
            if word.text.startswith("-") and word.text != "-":
                if re.search(r"[=/~.@]", word.text):
                    return None
                role = roles.get(word.text, READ)
                continue
            parts = dict.fromkeys(filter(None, (*re.split("[:=@,]", word.text)[1:], _rest(word.text))))
            uses += [Use(READ, Word(part, word.kind)) for part in parts]
            uses.append(Use(role, word))
            if role is not READ:
                uses.append(Use(READ, word))
            else:
                operands.append(word)
            role = READ
        if last is not None and operands:
            uses.append(Use(last, operands[-1]))
        return Parsed(program, operands=tuple(operands), uses=tuple(uses))

    return read


def _rest(text: str) -> str:
    found = re.search("[:=@]+(.*)", text, re.DOTALL)
    return found[1] if found else ""


def _socat(program: Program, words: tuple[Word, ...]) -> Parsed | None:
    """Its words are addresses, one kind of which is a command."""
    parsed = loose(commands="-lf")(program, words)
    return parsed and and_uses(parsed, [Use(COMMAND, word) for word in parsed.operands])


# ── the network ─────────────────────────────────────────────────────────────────────────────────

_AT = re.compile(r"(?:[^=@<]*=)?[@<](.*)", re.DOTALL)
_CURL_AT = names(
    "-d --data --data-ascii --data-binary --data-urlencode --json --url-query -F --form -H --header --proxy-header "
    "-w --write-out -b --cookie --variable --expand-data"
)
"""Options of curl whose value may name a file behind an @, or behind a < (-F)."""


def _curl(program: Program, words: tuple[Word, ...]) -> Parsed | None:
    parsed = plain(program, words)
    if parsed is None:
        return None
    uses = [use for use in parsed.uses if use.role is not TEXT]
    for name, value in parsed.options:
        if name in _CURL_AT and value is not None:
            found = _AT.fullmatch(value.text)
            if found or (name in ("--data-urlencode", "--variable") and "@" in value.text):
                path = found[1] if found else value.text.partition("@")[2]
                uses += [Use(READ, Word(part, value.kind)) for part in re.split('[;,"]', path) if part]
            elif name in ("-b", "--cookie") and "=" not in value.text:
                uses.append(Use(READ, value))
    if parsed.has("n --netrc --netrc-optional"):
        uses.append(Use(READ, Word("~/.netrc", home=True)))
    uses += _fetched(parsed, parsed.has("O --remote-name --remote-name-all J --remote-header-name"))
    return replace(parsed, uses=tuple(uses))


def _wget(program: Program, words: tuple[Word, ...]) -> Parsed | None:
    parsed = plain(program, words)
    if parsed is None:
        return None
    return and_uses(parsed, _fetched(parsed, not parsed.has("O --output-document --spider")))


def _fetched(parsed: Parsed, saves: bool) -> list[Use]:
    """What becomes of addresses: file:… is read, and what is saved has the last name of its address."""
    folders = [
        value
        for name, value in parsed.options
        if name in ("--output-dir", "-P", "--directory-prefix") and value is not None
    ]
    folder = folders[-1] if folders else HERE
    uses = [Use(WRITE, folder)] if saves else []
    addresses = [value for name, value in parsed.options if name == "--url" and value is not None]
    for word in (*parsed.operands, *addresses):
        if word.text.lower().startswith("file:"):
            path = re.sub(r"^file:(?://[^/]*)?", "", unquote(word.text), flags=re.IGNORECASE)
            uses.append(Use(READ, Word(path, WordKind.UNKNOWN if re.search(r"[{\[]", path) else word.kind)))
        name = posixpath.basename(re.split("[?#]", word.text)[0].rstrip("/"))
        if saves and name not in ("", ".", ".."):
            uses.append(Use(WRITE, joined(folder, Word(name, word.kind))))
    return uses


_CURL = Program(
    flags="#012346aBfgGiIjJklLNnOpqRsSvVZ --append --compressed --fail --fail-with-body --get --globoff --head "
    "--http1.0 --http1.1 --http2 --http3 --include --insecure --ipv4 --ipv6 --location --location-trusted --netrc "
    "--netrc-optional --no-buffer --no-progress-meter --parallel --progress-bar --remote-name --remote-name-all "
    "--remote-header-name --remote-time --retry-connrefused --retry-all-errors --show-error --silent --ssl-reqd "
    "--tcp-nodelay --tlsv1.2 --tlsv1.3 --verbose --version --create-dirs --no-clobber --skip-existing --path-as-is "
    "--proxytunnel --raw --anyauth --basic --digest --ntlm --negotiate --use-ascii --junk-session-cookies --manual "
    "--post301 --post302 --post303 --show-headers --disable",
    texts="A C d e F H m P Q r t u U w x X y Y z --user-agent --continue-at --data-raw --form-string --max-time "
    "--connect-timeout --retry --retry-delay --retry-max-time --range --request --user --proxy-user --proxy --noproxy "
    "--limit-rate --max-redirs --max-filesize --resolve --connect-to --interface --local-port --ciphers --referer "
    "--oauth2-bearer --aws-sigv4 --dns-servers --doh-url --proto --proto-redir --proto-default --socks5 "
    "--socks5-hostname --cert-type --key-type --pass --tls-max --keepalive-time --speed-limit --speed-time "
    "--request-target --rate --time-cond --data --data-ascii --data-binary --data-urlencode --json --url-query "
    "--form --header --proxy-header --write-out b --cookie --variable --expand-data",
    maybe="--help h",
    reads="E T --url --cert --key --cacert --capath --crlfile --pinnedpubkey --netrc-file --upload-file --proxy-cert "
    "--proxy-key --proxy-cacert --pubkey --hostpubsha256 --egd-file --random-file",
    writes="c D o --cookie-jar --dump-header --output --output-dir --stderr --trace --trace-ascii --libcurl --hsts "
    "--alt-svc --etag-save --etag-compare --unix-socket --abstract-unix-socket --ssl-sessions",
    executes="K --config --engine",
    operands=(READ,),
    looks=False,
    parser=_curl,
)
_WGET = Program(
    flags="46bcdEFHkKLmNpqrSvVxh --background --continue --debug --force-html --no-verbose --quiet --verbose "
    "--timestamping --no-clobber --spider --server-response --recursive --mirror --page-requisites --no-parent "
    "--span-hosts --relative --convert-links --no-check-certificate --no-cookies --content-disposition "
    "--trust-server-names --inet4-only --inet6-only --no-proxy --no-directories --force-directories --version --help "
    "--show-progress --no-hsts --retry-connrefused --no-config --https-only --no-host-directories",
    texts="A B D I l Q R t T U w X --accept --reject --tries --timeout --wait --user-agent --user --password --header "
    "--post-data --body-data --method --level --domains --exclude-domains --limit-rate --max-redirect --referer "
    "--progress --prefer-family --bind-address --quota --cut-dirs --http-user --http-password --accept-regex "
    "--reject-regex --restrict-file-names --secure-protocol --waitretry --random-wait --dns-timeout "
    "--connect-timeout --read-timeout --no n",
    reads="i --input-file --post-file --body-file --load-cookies --ca-certificate --ca-directory --certificate "
    "--private-key --crl-file --pinnedpubkey",
    writes="a o O P --append-output --output-file --output-document --directory-prefix --save-cookies --hsts-file "
    "--warc-file --rejected-log --warc-tempdir",
    executes="--config",
    commands="e --execute --use-askpass",
    operands=(READ,),
    looks=False,
    parser=_wget,
)
_SSH = Program(
    flags="1246AaCfGgKkMNnqsTtVvXxYy",
    texts="B b c D e J L l m O p Q R W w",
    reads="i",
    writes="E S",
    executes="F I",
    commands="o",
    operands=(TEXT, COMMAND),
    permutes=False,
    looks=False,
)
_NETCAT = Program(
    flags="46bCDdFhklNnrStUuvZz --ssl --listen --verbose --udp --keep-open --nodns",
    texts="I i M m O P p q T V W w X x --proxy --proxy-type",
    reads="--ssl-cert --ssl-key --ssl-trustfile --allowfile --denyfile",
    writes="o s --output --hex-dump",
    commands="c e --exec --sh-exec --lua-exec",
    looks=False,
)

# ── editors and databases ───────────────────────────────────────────────────────────────────────


def _vi(program: Program, words: tuple[Word, ...]) -> Parsed | None:
    """Behind a + stands a command of the editor, which may be one of the shell."""
    parsed = changed_in_place(program, words)
    if parsed is None:
        return None
    return and_uses(parsed, [Use(COMMAND, word) for word in parsed.operands if re.match(r"!|\+\D", word.text)])


_VI = Program(
    flags="AbCdDeEfFgHhlLMmnNoOpRvxXyZ --noplugin --clean --help --version --headless -nb",
    texts="T --startuptime",
    writes="i w W",
    executes="s S u U",
    commands="c --cmd --remote-send --remote-expr",
    reads="q r t",
    operands=(WRITE,),
    looks=False,
    parser=_vi,
)
_NANO = Program(
    flags="ABDEFGHIKLMNOPRSUVWZabcdeghiklmnptuvwxyz_/$%&@0",
    texts="JQTXYosr --fill --tabsize",
    writes="C",
    executes="f",
    operands=(WRITE,),
    looks=False,
    parser=_vi,
)
_EMACS = Program(
    flags="qQ -nw -batch --batch --no-window-system --quick --no-init-file --version --help --debug-init",
    executes="l --load --script -script -load u --user --chdir --init-directory",
    commands="f --eval -eval --execute -execute --funcall -funcall",
    reads="--insert -insert --file --visit --find-file",
    operands=(WRITE,),
    looks=False,
    parser=_vi,
)
_SQLITE = Program(
    flags="-header -noheader -column -json -csv -line -list -html -markdown -table -box -batch -bail -readonly -echo "
    "-version -interactive -quote -tabs -ascii -stats -safe -deserialize -nofollow -memtrace -unsafe-testing --version",
    texts="-separator -newline -nullvalue -mmap -maxsize -vfs",
    executes="-init",
    commands="-cmd --cmd",
    operands=(WRITE, COMMAND),
    looks=False,
    parser=changed_in_place,
)
"""Its commands may hold .shell, .system and .import."""
_PSQL = Program(
    flags="aAbeEHlnqsStwWxXz0V1 --version --list --echo-all --quiet --tuples-only --no-align --no-psqlrc --csv "
    "--no-password --password --single-transaction --expanded --html",
    texts="d F h p P R T U v --dbname --host --port --username --variable --set --pset --field-separator",
    executes="f --file",
    commands="c --command",
    writes="o L --output --log-file",
    looks=False,
)
_MYSQL = Program(
    flags="ABbCEfGHINnqstUVvwX --batch --silent --skip-column-names --table --vertical --version --verbose --xml "
    "--no-defaults --compress --all-databases --databases --no-data --single-transaction --routines --triggers",
    texts="D h P u --database --host --port --user --protocol --ssl-mode --default-character-set --where",
    maybe="p --password",
    reads="S --socket --ssl-ca --ssl-cert --ssl-key",
    writes="r T --result-file --tab --tee --log-error",
    executes="--defaults-file --defaults-extra-file --plugin-dir --init-command",
    commands="e --execute --pager",
    looks=False,
)

# ── object files ────────────────────────────────────────────────────────────────────────────────


_OBJECTS = Program(
    flags="aABCdDghHiIlnNoprRsSTtuUvVwWxX --all --all-headers --archive-headers --debug-syms --defined-only --demangle "
    "--disassemble --disassemble-all --dyn-syms --dynamic --dynamic-reloc --dynamic-syms --extern-only --file-header "
    "--file-headers --full-contents --headers --notes --numeric-sort --private-headers --program-headers --reloc "
    "--relocs --section-headers --sections --segments --size-sort --source --symbols --syms --totals --undefined-only "
    "--version --wide --no-show-raw-insn --line-numbers",
    reads="f j M m --section --disassembler-options --format --radix --hex-dump --string-dump --start-address "
    "--stop-address --target",
    executes="--plugin",
    looks=False,
)
"""objdump, nm, readelf, size: debugging information names source files that are shown, and a thin archive other files
that are read, in whatever place they are."""


# ── the table ───────────────────────────────────────────────────────────────────────────────────


def _writes(flags: str = "", **tables: str) -> Program:
    """A program that changes all that it is given."""
    return Program(flags=flags, operands=(WRITE,), looks=False, **tables)  # type: ignore[arg-type]


def _loosely(writes: str = "", executes: str = "", commands: str = "", last: Role | None = None) -> Program:
    return Program(looks=False, parser=loose(writes, executes, commands, last))


_RIGHTS = Program(
    flags="cfvRhHLPEN --changes --silent --quiet --verbose --recursive --no-dereference --dereference "
    "--preserve-root --no-preserve-root",
    texts="--from",
    lists="--reference",
    operands=(TEXT, WRITE),
    unless="--reference",
    looks=False,
)
_REMOVE = _writes(
    "fiIrRdvPWx --force --recursive --dir --verbose --one-file-system --no-preserve-root --preserve-root --interactive"
)
_SEVEN = Program(
    flags="yr -aoa -aos -aou -aot -bd -slt -so -si -sdel",
    texts="m p t v",
    reads="i x",
    writes="o w",
    operands=(TEXT, WRITE, TREE),
    looks=False,
    parser=lambda program, words: (found := changed_in_place(program, words)) and and_uses(found, [Use(WRITE, HERE)]),
)
_ALWAYS_LOOSE = {
    "openssl": _loosely(
        "-out -keyout -writerand -CAserial -CAcreateserial -tofile",
        "-engine -provider -provider-path -config -conf",
    ),
    "ssh-keygen": _loosely("-f -K", "-D -w"),
    "ssh-copy-id": _loosely(commands="-o"),
    "ffmpeg": _loosely("-passlogfile -report -progress -vstats_file", last=WRITE),
    "convert": _loosely("-write", last=WRITE),
    "magick": _loosely("-write", "-script", last=WRITE),
    "gdb": _loosely(
        executes="-x -ix --command -command -p -d -init-command", commands="-ex -iex -eval-command", last=EXECUTE
    ),
}

PROGRAMS: Mapping[str, Program] = MappingProxyType(
    {
        # Copies, moves, links.
        **dict.fromkeys(("cp", "gcp"), _COPY),
        "mv": _MOVE,
        "ln": _LINK,
        "link": Program(operands=(TREE, WRITE), looks=False),
        "install": _INSTALL,
        "rsync": _RSYNC,
        "scp": _SCP,
        "sftp": Program(
            flags="46AaCfNpqrv",
            texts="B c D l P R s X",
            reads="i",
            executes="b F S",
            commands="J o",
            operands=(TEXT, WRITE),
            looks=False,
        ),
        "dd": Program(looks=False, parser=_dd),
        # Files and rights.
        "tee": replace(_writes("aip --append --ignore-interrupts", maybe="--output-error"), looks=True),
        "touch": _writes("acfhm --no-create --no-dereference", texts="d t A --date --time", lists="r --reference"),
        "mkdir": _writes("pvZ --parents --verbose", texts="m --mode", maybe="--context"),
        "rmdir": _writes("pv --parents --verbose --ignore-fail-on-non-empty"),
        "rm": _REMOVE,
        "srm": _REMOVE,
        "trash": _writes("v"),
        "unlink": _writes(),
        "shred": _writes(
            "fuvxz --force --verbose --exact --zero",
            texts="n s --iterations --size",
            reads="--random-source",
            maybe="--remove",
        ),
        "truncate": _writes("co --no-create --io-blocks", texts="s --size", lists="r --reference"),
        "fallocate": _writes("cdikpvxz", texts="l o --length --offset"),
        "mkfifo": _writes("Z", texts="m --mode"),
        "mknod": Program(texts="m --mode", operands=(WRITE, TEXT), looks=False),
        "mktemp": _writes("dqtu --directory --quiet --dry-run", texts="--suffix", writes="p", maybe="--tmpdir"),
        **dict.fromkeys(("chmod", "chown", "chgrp"), _RIGHTS),
        "setfacl": Program(
            flags="bdknRLP --recursive --remove-all --remove-default --default --mask --no-mask --test",
            texts="m x --modify --remove --set",
            reads="M X --modify-file --remove-file --set-file --restore",
            operands=(WRITE,),
            looks=False,
        ),
        "chattr": Program(flags="RVf", texts="v p", operands=(TEXT, WRITE), looks=False),
        "chflags": Program(flags="fhvxRHLP", operands=(TEXT, WRITE), looks=False),
        "xattr": Program(flags="cdlprsvwx", operands=(TEXT, WRITE), looks=False),
        "setfattr": _writes("h", texts="n v x --name --value --remove", executes="--restore"),
        "split": Program(
            flags="edux --elide-empty-files --verbose --unbuffered",
            texts="a b C l n t --suffix-length --bytes --line-bytes --lines --number --additional-suffix --separator",
            maybe="--numeric-suffixes --hex-suffixes",
            commands="--filter",
            operands=(READ, WRITE),
            looks=False,
            parser=_splits,
        ),
        "csplit": Program(
            flags="kqszn --keep-files --quiet --silent --elide-empty-files --suppress-matched",
            texts="b --suffix-format --digits",
            writes="f --prefix",
            operands=(READ, TEXT),
            looks=False,
            parser=_splits,
        ),
        "patch": Program(
            flags="bceEflnNRstTuvZ --backup --dry-run --forward --reverse --force --batch --silent --verbose --binary "
            "--unified --remove-empty-files --ignore-whitespace",
            texts="B D F g p V Y z --strip --fuzz --ifdef --reject-format --prefix --suffix",
            reads="i --input",
            writes="d o r --directory --output --reject-file",
            operands=(WRITE, READ),
            looks=False,
            parser=lambda program, words: (
                (found := plain(program, words))
                # With -o the first operand is only read.
                and and_uses(found, [Use(WRITE, HERE), *(Use(READ, word) for word in found.operands[:1])])
            ),
        ),
        # Archives.
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
        "compress": _writes("cfkvd", texts="b"),
        "uncompress": _writes("cfkv"),
        "zcat": _shows("fqv"),
        "gzcat": _shows("fqv"),
        "bzcat": _shows("qs"),
        "xzcat": _shows("fqv"),
        "zstdcat": _shows("fqv"),
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
        # Keys and ciphers.
        "gpg": Program(
            flags="abcdeknqsvK --armor --sign --clearsign --detach-sign --encrypt --decrypt --symmetric --verify "
            "--import --export --export-secret-keys --list-keys --list-secret-keys --batch --yes --no --quiet "
            "--verbose --list-packets --version --no-tty --delete-keys --delete-secret-keys --gen-key --refresh-keys",
            texts="r u --recipient --local-user --passphrase --cipher-algo --keyserver --recv-keys --status-fd "
            "--passphrase-fd --pinentry-mode --trust-model --default-key",
            reads="--passphrase-file --keyring --secret-keyring --primary-keyring",
            writes="o --output --homedir --status-file --log-file --logger-file",
            executes="--options --agent-program --dirmngr-program --gpg-program --exec-path --photo-viewer",
            looks=False,
        ),
        "age": Program(
            flags="adep --encrypt --decrypt --passphrase --armor",
            texts="r --recipient",
            reads="i R --identity --recipients-file",
            writes="o --output",
            looks=False,
        ),
        # The network.
        "curl": _CURL,
        "wget": _WGET,
        "aria2c": Program(
            flags="cqnZV --continue --quiet --parameterized-uri --daemon",
            texts="j k m s t x --split --max-connection-per-server --header --user-agent --referer",
            reads="i T M --input-file --torrent-file --metalink-file --load-cookies --certificate --private-key",
            writes="d o l --dir --out --log --save-session --save-cookies",
            executes="--conf-path --on-download-complete --on-download-start --on-download-error --on-download-stop",
            looks=False,
            parser=lambda program, words: (found := plain(program, words)) and and_uses(found, [Use(WRITE, HERE)]),
        ),
        **dict.fromkeys(("http", "https"), _loosely("-o --output --download")),
        "ssh": _SSH,
        "autossh": replace(_SSH, texts=_SSH.texts + " M", flags=_SSH.flags.replace("M", "")),
        **dict.fromkeys(("nc", "ncat", "netcat"), _NETCAT),
        "socat": Program(looks=False, parser=_socat),
        **dict.fromkeys(("ftp", "lftp", "telnet"), _loosely(executes="-f -N -s", commands="-c -e")),
        # Editors.
        **dict.fromkeys(("vi", "vim", "nvim", "view", "ex", "rvim", "vimdiff", "gvim"), _VI),
        "ed": Program(flags="EGlrsv", texts="p", operands=(WRITE,), looks=False, parser=_vi),
        **dict.fromkeys(("nano", "pico"), _NANO),
        **dict.fromkeys(("emacs", "emacsclient"), _EMACS),
        **dict.fromkeys(("xdg-open", "open", "code", "subl"), _loosely(executes="-a -b")),
        # Databases.
        "sqlite3": _SQLITE,
        "psql": _PSQL,
        **dict.fromkeys(("pg_dump", "pg_restore"), replace(_PSQL, writes="f o L --file --output", executes="")),
        **dict.fromkeys(("mysql", "mysqldump", "mariadb"), _MYSQL),
        # What runs later.
        "crontab": Program(flags="leri", texts="u", operands=(EXECUTE,), looks=False),
        **dict.fromkeys(
            ("at", "batch"), Program(flags="lmMbcrdVv", texts="q t", executes="f", operands=(TEXT,), looks=False)
        ),
        # Object files, pictures, documents.
        **dict.fromkeys(("objdump", "nm", "readelf", "size"), _OBJECTS),
        "ldd": Program(flags="durv --verbose --unused", operands=(EXECUTE,), looks=False),
        "objcopy": _loosely("-o", "--plugin", last=WRITE),
        "strip": _writes(
            "sgdSxXwpDv --strip-all --strip-debug --strip-unneeded --preserve-dates",
            texts="K N R --keep-symbol --strip-symbol --remove-section",
            writes="o",
            executes="--plugin",
        ),
        "pandoc": Program(
            flags="sNCv --standalone --toc --number-sections --citeproc --version",
            texts="f t r w M V --from --to --read --write --metadata --variable --columns --wrap --toc-depth",
            reads="H B A c T --include-in-header --include-before-body --include-after-body --css --template "
            "--bibliography --csl --reference-doc --metadata-file --resource-path --data-dir",
            writes="o --output --extract-media --log",
            executes="F L d --filter --lua-filter --pdf-engine --defaults",
            looks=False,
        ),
        **_ALWAYS_LOOSE,
    }
)
