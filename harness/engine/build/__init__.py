"""Settings in, wired agent out: the only place that constructs."""
