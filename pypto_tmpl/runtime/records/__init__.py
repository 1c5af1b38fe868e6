"""What a run on a simulated platform records about its tasks, and the files that come of it."""
