"""A worker of a fleet: takes tasks from the shared database and works on them in this process (docs/fleet.md)."""

from harness.worker.events import WorkerEvent
from harness.worker.task_session import SessionWork
from harness.worker.worker import Worker

__all__ = ["SessionWork", "Worker", "WorkerEvent"]
