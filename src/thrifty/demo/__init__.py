"""``thrifty demo``: the service, and three simulated products that ask it.

``products`` knows the truth, ``traffic`` is a process of its own in which visitors come, ``dense`` is the
Thompson sampler that people write, ``run`` serves, and ``summary`` says at the end what each has lost.
"""
