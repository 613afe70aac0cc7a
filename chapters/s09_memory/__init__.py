"""Chapter s09: facts that outlive a compaction and a session."""
