"""A program that uses a mailbox of this folder.

python3 post.py mailbox send lead ann "Tide is high."     ann writes to the lead
python3 post.py mailbox send lead ann 1000                … a thousand messages, once a line comes on standard input
python3 post.py mailbox read lead                         the lead reads all that is there
python3 post.py mailbox step lead                         … one message for each line on standard input
python3 post.py mailbox half lead ann "Tide is"           ann writes half a message, and waits to be killed
python3 post.py mailbox full lead ann "Tide is high."     ann writes, but the disk has room for half of it
"""

import json
import resource
import signal
import sys
from importlib import import_module

module, act, name, *rest = sys.argv[1:]
box = import_module(module).Mailbox(".", name)
sender, text = [*rest, "", ""][:2]
half = ("\n" + json.dumps({"from": sender, "text": text})).encode()[:-2]
if act == "send" and text.isdecimal():
    sys.stdin.readline()
    for number in range(int(text)):
        box.send(sender, number)
        print(number, flush=True)  # sent for certain
elif act == "send":
    box.send(sender, text)
elif act == "half":
    with box.mail.open("ab") as file:
        file.write(half)
    print("half", flush=True)
    sys.stdin.read()
elif act == "full":
    room = box.mail.stat().st_size + len(half)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
    try:
        box.send(sender, text)
    except OSError as error:
        sys.exit(f"not sent: {error.strerror}")
    print("sent")
elif act in ("read", "step"):
    for message in box.read():
        if act == "step":
            sys.stdin.readline()
        print(f"{message['from']}: {message['text']}", flush=True)
