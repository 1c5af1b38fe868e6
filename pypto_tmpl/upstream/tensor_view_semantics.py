"""PyPTO's place for what views of tensors mean, of which no name is public; here `ir.TensorView` tells it."""
