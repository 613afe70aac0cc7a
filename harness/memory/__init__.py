"""Memory: facts that outlive a compaction and a session.

The model stores and reads them with tools. `MemoryStore` holds the files, `MemoryBook` the state that a session's
prompt shows; `recall_tool` and `keeping_tools` are the tools of the model.
"""

from harness.memory.memory import Memory, MemoryDraft, MemoryOwner, MemoryProblem, MemoryType, StoreError
from harness.memory.prompt_section import MemoryBook
from harness.memory.store import MemoryStore, StoredMemories
from harness.memory.tools import FORGET, RECALL, REMEMBER, keeping_tools, recall_tool

__all__ = [
    "FORGET",
    "RECALL",
    "REMEMBER",
    "Memory",
    "MemoryBook",
    "MemoryDraft",
    "MemoryOwner",
    "MemoryProblem",
    "MemoryStore",
    "MemoryType",
    "StoreError",
    "StoredMemories",
    "keeping_tools",
    "recall_tool",
]
