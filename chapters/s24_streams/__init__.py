"""Chapter s24: an answer that comes in pieces, over a connection that breaks, stalls or stops too early."""
