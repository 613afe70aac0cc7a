"""Programs that drive a session over standard input and output."""
