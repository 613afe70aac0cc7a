"""Small programs that use harness as a library. Each runs alone: `python -m examples.custom_tool`.

Without a key the practice model answers. docs/library.md explains the calls.
"""
