"""What a state is made of: components with their fields, and how kernels see them."""
