"""Makes a history shorter: old results, a summary, or a cut."""
