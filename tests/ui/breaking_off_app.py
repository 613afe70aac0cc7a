"""Offers a file, sends the first piece of it when it is asked to, and ends."""

import json
import sys

from textual._binary_encode import dump


def send(kind: bytes, payload: bytes) -> None:
    sys.stdout.buffer.write(kind + len(payload).to_bytes(4, "big") + payload)
    sys.stdout.flush()


sys.stdout.buffer.write(b"__GANGLION__\n")
send(b"M", json.dumps({"type": "deliver_file_start", "key": "1", "path": "half.txt"}).encode())
kind, size = sys.stdin.buffer.read(1), sys.stdin.buffer.read(4)
sys.stdin.buffer.read(int.from_bytes(size, "big"))
send(b"P", dump(("deliver_chunk", "1", "the first half")))
