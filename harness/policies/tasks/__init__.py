"""The task board, pure: states, the graph of what needs what, and what an actor may change.

A store loads the tasks that a decision looks at, asks a function of `decisions` and writes what it returns, all in one
transaction. "Blocked" is never stored: it follows from the tasks that a task needs. See docs/design/tasks.md.
"""
