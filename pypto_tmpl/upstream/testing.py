"""PyPTO's place for helpers of its own tests, none of which is public."""
