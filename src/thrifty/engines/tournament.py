"""Tournament: a tree of maxima over the committed indices. A round costs O(log K) instead of O(K).

Node 1 is the root, the children of node j are 2j and 2j+1 (side by side in memory), the leaves are the arms
in order. A node holds the largest index below it and how many leaves attain it, so that a tie is broken
uniformly with one uniform, and the same uniform picks the same arm as scan would.
"""

import math

from thrifty.jit import kernel
from thrifty.numerics import random


@kernel
def choose(tree, rng):
    """The arm with the largest index, ties uniformly at random."""
    leaves = tree.shape[0] // 2
    top, ties = tree[1, 0], tree[1, 1]
    left = random.below(rng, ties) if ties > 1.0 else 0
    node = 1
    while node < leaves:
        node *= 2
        here = tree[node, 1] if tree[node, 0] == top else 0.0
        if left >= here:
            left -= here
            node += 1
    return node - leaves


@kernel
def place(tree, i, index):
    """Arm i has a new index: repair the path to the root, as far as anything changes."""
    node = tree.shape[0] // 2 + i
    tree[node, 0] = index
    tree[node, 1] = 1.0
    while node > 1:
        node //= 2
        top, ties = _merge(tree, node)
        if top == tree[node, 0] and ties == tree[node, 1]:
            return
        tree[node, 0] = top
        tree[node, 1] = ties


@kernel
def build(tree, index):
    """The tree of all indices at once, from the leaves up. Leaves beyond the arms are never chosen."""
    leaves = tree.shape[0] // 2
    for i in range(leaves):
        tree[leaves + i, 0] = index[i] if i < index.size else -math.inf
        tree[leaves + i, 1] = 1.0 if i < index.size else 0.0
    for node in range(leaves - 1, 0, -1):
        tree[node, 0], tree[node, 1] = _merge(tree, node)


@kernel
def _merge(tree, node):
    left, right = tree[2 * node, 0], tree[2 * node + 1, 0]
    if left > right:
        return left, tree[2 * node, 1]
    if right > left:
        return right, tree[2 * node + 1, 1]
    return left, tree[2 * node, 1] + tree[2 * node + 1, 1]
