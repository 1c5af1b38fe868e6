"""Passes that share kernels out among the cube core and the lanes of the vector cores."""
