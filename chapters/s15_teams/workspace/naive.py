"""A mailbox that loses mail: reading takes everything, and deletes the file."""

import json
from pathlib import Path


class Mailbox:
    def __init__(self, folder, name):
        self.mail = Path(folder, f"{name}.mail")
        self.history = Path(folder, f"{name}.history")

    def send(self, sender, text):
        with self.mail.open("a") as file:
            file.write(json.dumps({"from": sender, "text": text}) + "\n")

    def read(self):
        if self.mail.exists():
            lines = self.mail.read_text().splitlines()
            self.mail.unlink()
            with self.history.open("a") as history:
                for line in lines:
                    history.write(line + "\n")
                    yield json.loads(line)
