"""Programs that send and fetch: roles of their words, for rules."""

import posixpath
import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from urllib.parse import unquote

from harness.permissions.name_sets import names
from harness.permissions.programs.grammar import HERE, ParsedCommand, Program, WordUse
from harness.permissions.programs.parsers import (
    COMMAND,
    READ,
    TEXT,
    WRITE,
    and_uses,
    joined,
    loose,
    loose_program,
    plain,
)
from harness.permissions.shell.syntax import Word, WordKind


def _socat(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    """Its words are addresses, and one kind of address is a command."""
    parsed = loose(commands="-lf")(program, words)
    return parsed and and_uses(parsed, [WordUse(COMMAND, word) for word in parsed.operands])


_AT = re.compile(r"(?:[^=@<]*=)?[@<](.*)", re.DOTALL)
_CURL_AT = names(
    "-d --data --data-ascii --data-binary --data-urlencode --json --url-query -F --form -H --header --proxy-header "
    "-w --write-out -b --cookie --variable --expand-data"
)
"""Options of curl whose value may name a file behind an @, or behind a < (-F)."""


def _curl(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    parsed = plain(program, words)
    if parsed is None:
        return None
    uses = [use for use in parsed.uses if use.role is not TEXT]
    for name, value in parsed.options:
        if name in _CURL_AT and value is not None:
            found = _AT.fullmatch(value.text)
            if found or (name in ("--data-urlencode", "--variable") and "@" in value.text):
                path = found[1] if found else value.text.partition("@")[2]
                uses += [WordUse(READ, Word(part, value.kind)) for part in re.split('[;,"]', path) if part]
            elif name in ("-b", "--cookie") and "=" not in value.text:
                uses.append(WordUse(READ, value))
    if parsed.has("n --netrc --netrc-optional"):
        uses.append(WordUse(READ, Word("~/.netrc", home=True)))
    uses += _fetched(parsed, parsed.has("O --remote-name --remote-name-all J --remote-header-name"))
    return replace(parsed, uses=tuple(uses))


def _wget(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    parsed = plain(program, words)
    if parsed is None:
        return None
    return and_uses(parsed, _fetched(parsed, not parsed.has("O --output-document --spider")))


def _fetched(parsed: ParsedCommand, saves: bool) -> list[WordUse]:
    """What becomes of addresses: file:… is read, and the output file is named after the last part of the address."""
    folders = [
        value
        for name, value in parsed.options
        if name in ("--output-dir", "-P", "--directory-prefix") and value is not None
    ]
    folder = folders[-1] if folders else HERE
    uses = [WordUse(WRITE, folder)] if saves else []
    addresses = [value for name, value in parsed.options if name == "--url" and value is not None]
    for word in (*parsed.operands, *addresses):
        if word.text.lower().startswith("file:"):
            path = re.sub(r"^file:(?://[^/]*)?", "", unquote(word.text), flags=re.IGNORECASE)
            uses.append(WordUse(READ, Word(path, WordKind.UNKNOWN if re.search(r"[{\[]", path) else word.kind)))
        name = posixpath.basename(re.split("[?#]", word.text)[0].rstrip("/"))
        if saves and name not in ("", ".", ".."):
            uses.append(WordUse(WRITE, joined(folder, Word(name, word.kind))))
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


PROGRAMS: Mapping[str, Program] = MappingProxyType(
    {
        "curl": _CURL,
        "wget": _WGET,
        "aria2c": Program(
            flags="cqnZV --continue --quiet --parameterized-uri --daemon",
            texts="j k m s t x --split --max-connection-per-server --header --user-agent --referer",
            reads="i T M --input-file --torrent-file --metalink-file --load-cookies --certificate --private-key",
            writes="d o l --dir --out --log --save-session --save-cookies",
            executes="--conf-path --on-download-complete --on-download-start --on-download-error --on-download-stop",
            looks=False,
            parser=lambda program, words: (found := plain(program, words)) and and_uses(found, [WordUse(WRITE, HERE)]),
        ),
        **dict.fromkeys(("http", "https"), loose_program("-o --output --download")),
        "ssh": _SSH,
        "autossh": replace(_SSH, texts=_SSH.texts + " M", flags=_SSH.flags.replace("M", "")),
        **dict.fromkeys(("nc", "ncat", "netcat"), _NETCAT),
        "socat": Program(looks=False, parser=_socat),
        **dict.fromkeys(("ftp", "lftp", "telnet"), loose_program(executes="-f -N -s", commands="-c -e")),
    }
)
