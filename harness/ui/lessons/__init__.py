"""The course on the screen and in lines: `harness learn`."""
