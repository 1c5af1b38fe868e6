"""Snapshots: emitted scripts that a repository commits, compared with what is emitted now."""
