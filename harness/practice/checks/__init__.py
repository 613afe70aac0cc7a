"""Requests that the real API refuses, with the words of the refusal."""
