"""The search for the first stage, and the first statement, that is wrong."""
