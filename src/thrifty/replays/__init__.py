"""Policies on logged data: what they would have earned, estimated from the decisions of another policy."""
