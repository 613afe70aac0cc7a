"""What the model reads about the network of a command in the sandbox."""

import pytest

from harness.tools.network_notes import BY_SSH, DIRECT, LONGEST_NETWORK_NOTE, ports_missed, without_network


@pytest.mark.parametrize(
    ("output", "note"),
    [
        ("curl: (6) Could not resolve host: pypi.org", DIRECT),
        ("socket.gaierror: [Errno -3] Temporary failure in name resolution", DIRECT),
        ("Error: getaddrinfo EAI_AGAIN registry.npmjs.org", DIRECT),
        ("dial tcp: lookup proxy.golang.org: no such host", DIRECT),
        ("connect: Network is unreachable", DIRECT),
        ("ssh: Could not resolve hostname github.com: Temporary failure in name resolution", BY_SSH),
        ("fatal: could not resolve the conflict in a.py", ""),
        ("3 failed, 2 passed", ""),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'a'", ""),
    ],
)
def test_why_no_host_was_found(output: str, note: str) -> None:
    assert without_network(output) == note
    assert len(note) <= LONGEST_NETWORK_NOTE


@pytest.mark.parametrize(
    ("line", "output", "ports"),
    [
        ("curl localhost:3000", "curl: (7) Failed to connect to localhost port 3000: Connection refused", (3000,)),
        ("npm test", "Error: connect ECONNREFUSED 127.0.0.1:5432", (5432,)),
        ("npm test", "Error: connect ECONNREFUSED ::1:5432\nhttp://[::1]:5432", (5432,)),
        ("pytest", 'connection to server at "localhost" (::1), port 5432 failed: Connection refused', (5432,)),
        ("curl http://localhost:8080/", "curl: (7) Couldn't connect to server", (8080,)),
        ("curl http://localhost:99999/", "Connection refused", ()),
        ("curl http://localhost:8080/", "hello", ()),
        ("cat a", "permission refused", ()),
    ],
)
def test_ports_of_this_machine_that_were_not_reached(line: str, output: str, ports: tuple[int, ...]) -> None:
    assert ports_missed(line, output) == ports
