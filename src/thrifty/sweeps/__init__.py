"""Sweeps: many experiments from one file, cut into chunks that survive whatever happens to the machine."""
