"""s04: what you attach to fixed points of the loop, without touching the loop."""
