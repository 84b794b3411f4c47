"""The online bandit: decisions and rewards one at a time, for a program that lives with them."""
