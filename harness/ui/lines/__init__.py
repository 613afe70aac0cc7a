"""What each event says in one line, for every front end."""
