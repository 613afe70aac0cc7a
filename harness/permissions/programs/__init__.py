"""What is known of programs: which command lines only look, and which programs change the files that they are given.

`PROGRAMS` decides quickly what need not be asked. The names below say of other programs what becomes of the paths among
their words; what they do with each of them is not known here, and the system holds them to it where it can.
"""

from collections.abc import Mapping
from types import MappingProxyType

from harness.permissions.name_sets import names
from harness.permissions.programs import builtins, find, git, scripts, text, tools
from harness.permissions.programs.grammar import ParsedCommand, Program, WordRole, WordUse, parse
from harness.permissions.shell.syntax import SimpleCommand

PROGRAMS: Mapping[str, Program] = MappingProxyType(
    {
        **builtins.PROGRAMS,
        **find.PROGRAMS,
        **git.PROGRAMS,
        **scripts.PROGRAMS,
        **text.PROGRAMS,
        **tools.PROGRAMS,
    }
)
"""Every program with forms that only look, by its bare name."""
WRITERS = names(
    "tee touch mkdir rmdir rm srm trash unlink shred truncate fallocate mkfifo mknod mktemp chmod chown chgrp setfacl "
    "setfattr chattr chflags xattr strip"
)
"""Programs that change what they are given, and show nothing of it."""
HANDLERS = names(
    # copy, move, link, pack, send
    "cp gcp mv ln link install rsync scp sftp dd tar gtar bsdtar zip unzip 7z 7za 7zz unrar gzip gunzip bzip2 bunzip2 "
    "xz unxz lzma unlzma zstd unzstd lz4 unlz4 compress uncompress zcat gzcat bzcat xzcat zstdcat ar jar cpio curl "
    "wget aria2c http https ssh autossh nc ncat netcat socat ftp lftp telnet docker podman kubectl "
    # change or make files out of others, or remove what they find
    "find fd fdfind "
    "sed gsed sort uniq shuf split csplit patch base64 base32 iconv xxd tree diff3 sdiff awk gawk mawk nawk jq gpg age "
    "openssl ssh-keygen ssh-copy-id vi vim nvim view ex rvim vimdiff gvim ed nano pico emacs emacsclient xdg-open open "
    "code subl sqlite3 psql pg_dump pg_restore mysql mysqldump mariadb crontab ffmpeg convert magick objdump nm "
    "readelf size ldd objcopy pandoc"
)
"""Programs that read or write, in one form or another, any of the paths among their words."""
COPIERS = names("cp gcp mv ln install rsync scp")
"""Those of them whose last word is written."""
UNPACKERS = names("find tar gtar bsdtar unzip 7z 7za 7zz unrar jar ar cpio patch curl wget aria2c split csplit")
"""Those of them that may write in the current folder what no word names."""
GIT_WRITES = names("rm mv clean checkout restore reset apply am init clone worktree archive bundle format-patch stash")
"""Subcommands of git that do the same with their words."""
KNOWN = (
    frozenset(PROGRAMS)
    | WRITERS
    | HANDLERS
    | names(
        "python python2 python3 pypy pypy3 node perl ruby lua bash zsh sh dash ksh ash fish mksh php Rscript julia "
        "tclsh osascript ts-node tsx make gmake gcc g++ cc c++ clang clang++ java javac cmake ctest ninja black npm "
        "tsc ruff uv mypy pip pip3 helm gh apt apt-cache dpkg dpkg-query rpm brew systemctl journalctl at batch gdb "
        "zipinfo hash jobs alias umask ulimit dirs shopt wait kill trap"
    )
)
"""Programs that run none of their words as a command of the system, or whose words are looked through elsewhere."""


def looks(simple: SimpleCommand, *, limited: bool = False) -> bool:
    """A command is read-only and terminates, or is terminated by a wrapper if `limited`.

    Which paths it may read is decided elsewhere.
    """
    program = PROGRAMS.get(simple.program or "")
    parsed = None if program is None else parse(program, simple.words[1:])
    return parsed is not None and (limited or parsed.ends)


__all__ = ["KNOWN", "PROGRAMS", "ParsedCommand", "Program", "WordRole", "WordUse", "looks", "parse"]
