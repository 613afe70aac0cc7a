"""The course: one folder for each mechanism, run with the modules of `harness` itself."""
