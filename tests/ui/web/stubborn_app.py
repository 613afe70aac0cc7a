"""An app that heeds nothing: neither the message to leave nor SIGTERM. Its child in the same group does neither."""

import signal
import subprocess
import sys
import time

signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen(
    [sys.executable, "-c", "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"]
)
shown = f"child {child.pid}.".encode()
sys.stdout.buffer.write(b"__GANGLION__\nD" + len(shown).to_bytes(4, "big") + shown)
sys.stdout.flush()
time.sleep(600)
