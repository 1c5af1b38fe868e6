"""Tasks of the run time: what each uses, what orders them, and the scopes that they stand in."""
