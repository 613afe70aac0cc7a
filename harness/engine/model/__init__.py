"""One model call: what is sent with it, what is shown of it, and what is counted."""
