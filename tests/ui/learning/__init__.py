"""The course on the screen and in lines."""
