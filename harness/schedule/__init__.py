"""Prompts that fire by themselves: their times, and where they are kept."""
