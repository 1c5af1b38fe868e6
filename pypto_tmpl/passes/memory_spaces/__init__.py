"""Which memory a tile lies in, and moves between the memories."""
