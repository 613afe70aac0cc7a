"""Chapter s10: the parts of every request before the conversation."""
