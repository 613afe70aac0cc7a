"""The worker that you write: it claims tasks from a queue that it shares with others, until none is left."""

import sqlite3
import sys
import time

TABLE = "number INTEGER PRIMARY KEY, text, fence DEFAULT 0, until DEFAULT 0, done DEFAULT 0"
CLAIM = """UPDATE tasks SET fence = fence + 1, until = :now + :lease
WHERE number = (SELECT number FROM tasks WHERE NOT done AND until < :now ORDER BY number LIMIT 1)
RETURNING number, text, fence"""
FINISH = "UPDATE tasks SET done = 1 WHERE number = ? AND fence = ?"


class Queue:
    def __init__(self, file):
        self.disk = sqlite3.connect(file, isolation_level=None, timeout=60)
        self.disk.execute(f"CREATE TABLE IF NOT EXISTS tasks ({TABLE})")

    def add(self, text):
        self.disk.execute("INSERT INTO tasks (text) VALUES (?)", [text])

    def left(self):
        return self.disk.execute("SELECT count(*) FROM tasks WHERE NOT done").fetchone()[0]

    def claim(self, lease):
        found = self.disk.execute(CLAIM, {"now": time.time(), "lease": lease}).fetchall()
        return found[0] if found else None

    def finish(self, number, fence):
        return self.disk.execute(FINISH, [number, fence]).rowcount == 1


def work(queue, name, lease):
    while queue.left():
        if (task := queue.claim(lease)) is None:
            time.sleep(0.1)  # another one has it, and may die
            continue
        number, text, fence = task
        print(f"{name} takes {number}: {text}", flush=True)
        input()  # here the work lasts until you press Enter
        lamp, litres = text.split(" gets ")
        kept = queue.finish(number, fence)
        print(f"{name}: {lamp} has {litres}" if kept else f"{name} is late with {number}", flush=True)


if __name__ == "__main__":
    name, lease, *tasks = sys.argv[1:]
    queue = Queue("queue.sqlite")
    for text in tasks:
        queue.add(text)
    work(queue, name, float(lease))
