"""What the agent can do in the folder it works in."""
