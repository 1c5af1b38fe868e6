"""PyPTO's place for how communication windows lie in memory, of which no name is public."""
