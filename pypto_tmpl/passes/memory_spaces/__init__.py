"""Passes that say in which memory tiles lie, and move them between memories."""
