"""The first program of a command in its own network: opens the ports of the proxy there, and becomes the command.

    python -I -S -c "the text of this file" DESCRIPTOR PORT,PORT UNSET -- COMMAND…

It listens on the ports of the loopback interface, sends the sockets through DESCRIPTOR to the program outside, which
accepts there, and leaves no process behind. It imports next to nothing, because every command waits for it.
"""

import _signal  # type: ignore[import-not-found]  # `signal` takes as long as all the rest
import _socket
import os
import sys


def main(channel: int, ports: list[int], unset: list[str], command: list[str]) -> None:
    """Open the ports, hand them over, and become `command`, without the variables `unset`."""
    listening = []
    for port in ports:
        one = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
        one.setsockopt(_socket.SOL_SOCKET, _socket.SO_REUSEADDR, 1)
        one.bind(("127.0.0.1", port))
        one.listen(128)
        listening.append(one)
    handles = b"".join(one.fileno().to_bytes(4, sys.byteorder) for one in listening)
    link = _socket.socket(fileno=channel)
    link.sendmsg([b"."], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, handles)])
    link.close()
    for one in listening:
        one.close()
    for name in unset:  # what Python itself has set
        os.environ.pop(name, None)
    for number in (_signal.SIGPIPE, _signal.SIGXFSZ):  # what Python ignores, the command must not
        _signal.signal(number, _signal.SIG_DFL)
    os.execvp(command[0], command)


if __name__ == "__main__":
    try:
        main(int(sys.argv[1]), [int(port) for port in sys.argv[2].split(",")], sys.argv[3].split(), sys.argv[5:])
    except OSError as error:
        sys.stderr.write(f"harness: the command could not be started in its own network: {error}\n")
    sys.exit(126)
