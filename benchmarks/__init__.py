"""Measurements that are commands of their own: the fault table, and speed and memory as ratios."""
