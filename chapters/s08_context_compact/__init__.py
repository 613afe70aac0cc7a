"""Chapter s08: what to do when the conversation does not fit into the window any more, the mildest first."""
