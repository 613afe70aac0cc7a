"""Chapter s20: one queue for everything that happens, one budget, one order of shutdown."""
