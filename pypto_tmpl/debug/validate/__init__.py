"""Running the stages of a pass dump and comparing what they compute."""
