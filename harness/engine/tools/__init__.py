"""The tool calls of one reply: decided, permitted, run, with their results in order."""
