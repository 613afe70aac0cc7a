"""What every other package may use: errors, the clock, secrets, text from outside, locked files."""
