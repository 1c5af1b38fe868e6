"""PyPTO's command-line tools under their paths."""
