"""What is told of faults: a folder for each, and one page over all."""
