"""From ops on tensors to ops on tiles, inside of kernels."""
