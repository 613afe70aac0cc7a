"""The app below the terminal's own scrollback, without the alternate screen."""
