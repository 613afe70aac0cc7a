"""Chapter s08: measures for a conversation that no longer fits into the window, mildest first."""
