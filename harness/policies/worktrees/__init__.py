"""What a removal of a worktree would lose, and in which order finished branches are merged and tested. Pure."""
