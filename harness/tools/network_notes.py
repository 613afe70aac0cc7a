"""What the model reads about the network of a command in the sandbox. Pure."""

import re

_NO_NAME = re.compile(
    r"could ?n[o']t resolve (?:host|proxy)|failure in name resolution|name or service not known|no such host"
    r"|nodename nor servname|getaddrinfo|\b(?:EAI_AGAIN|ENOTFOUND)\b|dns error|failed to lookup address"
    r"|network is unreachable",
    re.IGNORECASE,
)
"""How programs say that they found no host, or no way to it."""
_NO_CONNECTION = re.compile(r"refused|couldn't connect|could not connect|failed to connect", re.IGNORECASE)
_LOCAL_PORT = re.compile(
    r"(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\]):(\d{2,5})\b|\bport[ =:]+(\d{2,5})\b", re.IGNORECASE
)
MOST_PORTS = 5
_SSH = re.compile(r"\bssh: |\bgit@|ssh://")

DIRECT = (
    "\n[In the sandbox there is no direct network and no DNS. Programs reach allowed hosts through the HTTP proxy that "
    "HTTP_PROXY and HTTPS_PROXY name; this one seems not to use it. Give it the proxy by an option, or use a program "
    "that obeys these variables. Ports of this machine cannot be reached, only those that the command opens itself.]"
)
BY_SSH = (
    "\n[In the sandbox ssh reaches no host. Use an https address, for example `git -c "
    "url.https://github.com/.insteadOf=git@github.com: …`, or ask the user to allow the command.]"
)

LONGEST_NETWORK_NOTE = max(len(DIRECT), len(BY_SSH))


def without_network(output: str) -> str:
    """Why a command that failed in the sandbox found no host; empty: its output says no such thing."""
    if not _NO_NAME.search(output):
        return ""
    return BY_SSH if _SSH.search(output) else DIRECT


def ports_missed(line: str, output: str) -> tuple[int, ...]:
    """The ports of this machine that a command in the sandbox, by its line and output, could not connect to."""
    if not _NO_CONNECTION.search(output):
        return ()
    found = (int(one or other) for text in (output, line) for one, other in _LOCAL_PORT.findall(text))
    return tuple(dict.fromkeys(port for port in found if port < 65_536))[:MOST_PORTS]
