"""Host orchestrators of several ranks: their collectives, and which devices share which windows."""
