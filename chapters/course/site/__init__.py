"""The course as static pages: `harness learn --html DIR`."""
