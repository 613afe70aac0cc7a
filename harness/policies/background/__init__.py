"""What the model reads of background work and when, pure: lines of monitored commands, and a note against polling."""
