"""The course on the screen: text, code, the live conversation and the panel."""
