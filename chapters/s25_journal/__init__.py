"""Chapter s25: what was done is written down before the next thing happens, so a kill loses nothing."""
