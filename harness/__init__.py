"""An agent for the terminal that you can chat with, learn from and watch recover."""

__version__ = "0.1.0"
