"""Programs that change files: roles of their words, for rules.

Nearly none of them ever only looks. What their tables are for is that a rule about a place binds every program: with
`deny read(~/.ssh/**)`, `cp ~/.ssh/id_rsa k`, `ln -s ~/.ssh k` and `tar cf k.tar ~/.ssh` are as much about it as `cat`.
So a word whose role is not certain counts as read; only what cannot be a path is TEXT.
"""

import posixpath
import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from harness.permissions.name_sets import names
from harness.permissions.programs.grammar import HERE, ParsedCommand, Program, WordUse
from harness.permissions.programs.parsers import (
    COMMAND,
    EXECUTE,
    READ,
    TEXT,
    TREE,
    WRITE,
    Parser,
    and_uses,
    changed_in_place,
    joined,
    loose_program,
    plain,
    writer,
)
from harness.permissions.shell.syntax import Word, WordKind

# ── cp, mv, ln, install, rsync ──────────────────────────────────────────────────────────────────

_FOLDER = "-t --target-directory"


def _copies(*, changes: str = "") -> Parser:
    """Programs with sources and a destination, which may be a folder: then the file there has the name of its source.

    `changes`: options with which the sources are changed or removed as well; "always": they are.
    """

    def read(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
        parsed = plain(program, words)
        if parsed is None:
            return None
        folders = [value for name, value in parsed.options if name in _FOLDER.split() and value is not None]
        sources = parsed.operands if folders or len(parsed.operands) < 2 else parsed.operands[:-1]
        target = folders[-1] if folders else parsed.operands[-1] if len(parsed.operands) > 1 else HERE
        uses = [WordUse(WRITE, HERE)] if target is HERE else []
        for source in sources:
            name = posixpath.basename(source.text.rstrip("/"))
            if source.kind is not WordKind.PIPE and name not in ("", ".", ".."):
                uses.append(WordUse(WRITE, joined(target, Word(name, source.kind))))
        if changes and (changes == "always" or parsed.has(changes)):
            uses += [WordUse(WRITE, source) for source in sources]
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
"""A link to a folder gives access to all of its content."""
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


def _dd(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    uses = []
    for word in words:
        name, equals, value = word.text.partition("=")
        role = {"if": READ, "of": WRITE}.get(name, TEXT if name in _DD_TEXTS else None)
        if not equals or role is None:
            return None
        if word.kind is WordKind.UNKNOWN and re.fullmatch(r"~/[\w./-]+", value):
            # bash puts the home folder there, other shells do not.
            uses += [WordUse(role, Word(value, home=True)), WordUse(role, Word(value))]
        elif word.known:
            uses.append(WordUse(role, Word(value)))
        else:
            return None
    return ParsedCommand(program, operands=words, uses=tuple(uses))


def _splits(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    """Only the beginning of an output file's name is in a word."""
    parsed = plain(program, words)
    if parsed is None:
        return None
    prefixes = [use.word for use in parsed.uses if use.role is WRITE]
    folders = [replace(word, text=posixpath.dirname(word.text) or ".") for word in prefixes] or [HERE]
    return and_uses(parsed, [WordUse(WRITE, folder) for folder in folders])


# ── editors and databases ───────────────────────────────────────────────────────────────────────


def _vi(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    """A + introduces an editor command, which may run a shell."""
    parsed = changed_in_place(program, words)
    if parsed is None:
        return None
    return and_uses(parsed, [WordUse(COMMAND, word) for word in parsed.operands if re.match(r"!|\+\D", word.text)])


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


_RIGHTS = Program(
    flags="cfvRhHLPEN --changes --silent --quiet --verbose --recursive --no-dereference --dereference "
    "--preserve-root --no-preserve-root",
    texts="--from",
    lists="--reference",
    operands=(TEXT, WRITE),
    unless="--reference",
    looks=False,
)
_REMOVE = writer(
    "fiIrRdvPWx --force --recursive --dir --verbose --one-file-system --no-preserve-root --preserve-root --interactive"
)
_ALWAYS_LOOSE = {
    "openssl": loose_program(
        "-out -keyout -writerand -CAserial -CAcreateserial -tofile",
        "-engine -provider -provider-path -config -conf",
    ),
    "ssh-keygen": loose_program("-f -K", "-D -w"),
    "ssh-copy-id": loose_program(commands="-o"),
    "ffmpeg": loose_program("-passlogfile -report -progress -vstats_file", last=WRITE),
    "convert": loose_program("-write", last=WRITE),
    "magick": loose_program("-write", "-script", last=WRITE),
    "gdb": loose_program(
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
        "tee": replace(writer("aip --append --ignore-interrupts", maybe="--output-error"), looks=True),
        "touch": writer("acfhm --no-create --no-dereference", texts="d t A --date --time", lists="r --reference"),
        "mkdir": writer("pvZ --parents --verbose", texts="m --mode", maybe="--context"),
        "rmdir": writer("pv --parents --verbose --ignore-fail-on-non-empty"),
        "rm": _REMOVE,
        "srm": _REMOVE,
        "trash": writer("v"),
        "unlink": writer(),
        "shred": writer(
            "fuvxz --force --verbose --exact --zero",
            texts="n s --iterations --size",
            reads="--random-source",
            maybe="--remove",
        ),
        "truncate": writer("co --no-create --io-blocks", texts="s --size", lists="r --reference"),
        "fallocate": writer("cdikpvxz", texts="l o --length --offset"),
        "mkfifo": writer("Z", texts="m --mode"),
        "mknod": Program(texts="m --mode", operands=(WRITE, TEXT), looks=False),
        "mktemp": writer("dqtu --directory --quiet --dry-run", texts="--suffix", writes="p", maybe="--tmpdir"),
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
        "setfattr": writer("h", texts="n v x --name --value --remove", executes="--restore"),
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
                and and_uses(found, [WordUse(WRITE, HERE), *(WordUse(READ, word) for word in found.operands[:1])])
            ),
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
        # Editors.
        **dict.fromkeys(("vi", "vim", "nvim", "view", "ex", "rvim", "vimdiff", "gvim"), _VI),
        "ed": Program(flags="EGlrsv", texts="p", operands=(WRITE,), looks=False, parser=_vi),
        **dict.fromkeys(("nano", "pico"), _NANO),
        **dict.fromkeys(("emacs", "emacsclient"), _EMACS),
        **dict.fromkeys(("xdg-open", "open", "code", "subl"), loose_program(executes="-a -b")),
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
        "objcopy": loose_program("-o", "--plugin", last=WRITE),
        "strip": writer(
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
