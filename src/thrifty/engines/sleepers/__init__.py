"""Sleepers: exact Thompson sampling that draws only for arms that can win. docs/sleepers.md has the proof.

A draw of arm i is isf_i(1 - exp(-e)) with e ~ Exp(1), so it exceeds a level c if and only if e is below

    rate_i = -ln P(draw of arm i <= c),

and e is where a Poisson process of unit rate has its first point. Lay the arms out on a line, each on an
interval not shorter than its rate, and let one Poisson process run over the line: the arms that have a point
on the first ``rate`` of their interval are those that exceed the level, and the points are their draws. All
others are asleep, and nothing is drawn for them. If somebody exceeds the level, the winner has been seen.
With a level at which the rates sum to a little over ln K, that is all but certain, and a round costs about
ln K draws.

Arms whose rates lie in one octave form a group and get intervals of one length, so that a point finds its arm
by a division. Arms of rate 1/2 and more are awake: drawn in every round, without a line.

The level has to follow what is learnt. When the sum of rates has left its range, a new level is computed from
a sample of the arms, and the arms are moved to it a few in each round: the first ``SWEPT`` of them are at the
new level, the others at the old one. An arm's rate may change at any time and for any reason that does not
depend on draws that nobody has seen: what sleeps has no memory.
"""
