"""The conversation as a person reads it: a fold over events into entries, and what each looks like."""
