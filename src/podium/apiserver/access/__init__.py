"""Who may do what: users, tokens and reviews."""
