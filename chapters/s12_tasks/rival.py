"""Another program on the same board. It claims the first task that is ready, and then works for a long time."""

import json
import sys

from harness.engine.build.from_settings import board_for
from harness.events import TaskChanged, encode
from harness.policies.tasks.decisions import Refused
from harness.policies.tasks.task import Actor
from harness.settings import Settings

NAME = "another program"


def main() -> None:
    """Settings come on standard input; the claim goes to standard output as an event."""
    settings = Settings.model_validate(json.loads(sys.stdin.readline()))
    if (board := board_for(settings, "", NAME, print)) is None:
        sys.exit(f"{NAME}: there is no board in these settings.")
    claimed = board.claim(Actor(NAME))
    if isinstance(claimed, Refused):
        sys.exit(f"{NAME}: {claimed.reason}")
    (task,) = claimed.tasks
    change = TaskChanged(task.id, task.subject, task.state, claimed.records[-1].what, NAME)
    print(json.dumps(encode(change)), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
