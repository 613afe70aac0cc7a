"""Who may do what: the question before anything that writes or runs."""
