"""Which requests the real API refuses, and in which words."""
