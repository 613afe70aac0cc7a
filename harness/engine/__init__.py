"""Carries out what the policies decide: model calls, tool calls, waits, shortening. Decides nothing itself."""
