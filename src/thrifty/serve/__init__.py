"""The decision service: decisions and rewards over HTTP, in front of a store that loses nothing.

``app`` is HTTP and nothing else, ``messages`` the contract, ``service`` what is done; ``experiments`` is
what is in memory, with ``arms`` around the library; ``log`` is the one writer, ``store`` the schema,
``events`` what a row of the log says, ``fold`` how rows become state, ``tokens`` the ids of decisions.
"""
