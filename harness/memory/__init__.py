"""Memory: facts that outlive a compaction and a session (facts/lessons.md, s09).

The model keeps and reads them with tools; nothing asks a model behind its back. `MemoryStore` holds the files,
`MemoryBook` what a session was told of them, `recall_tool` and `keeping_tools` are what the model is given.
"""

from harness.memory.memory import Draft, Memory, MemoryType, Place, Problem, StoreError
from harness.memory.session_memories import MemoryBook
from harness.memory.store import Found, MemoryStore
from harness.memory.tools import FORGET, RECALL, REMEMBER, keeping_tools, recall_tool

__all__ = [
    "FORGET",
    "RECALL",
    "REMEMBER",
    "Draft",
    "Found",
    "Memory",
    "MemoryBook",
    "MemoryStore",
    "MemoryType",
    "Place",
    "Problem",
    "StoreError",
    "keeping_tools",
    "recall_tool",
]
