"""Chapter s25: every event is written down before the next thing happens, so a kill loses nothing."""
