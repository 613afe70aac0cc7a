"""Chapter s19: tools of other programs speak a protocol, and what is trusted is decided at the border."""
