"""Pure decisions: no files, clocks, random numbers or tasks. Each subpackage answers one question."""
