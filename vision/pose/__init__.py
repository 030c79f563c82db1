"""The pose of one piece: first guesses, search, edge alignment and likelihoods."""
