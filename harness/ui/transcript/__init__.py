"""The conversation as the user reads it: a fold over events into entries, and their drawing."""
