"""`harness serve`: the app in a browser on this machine."""
