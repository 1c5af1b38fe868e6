"""Passes that overlap the rounds of pipelined loops."""
