"""The course on the screen."""
