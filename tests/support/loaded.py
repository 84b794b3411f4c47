"""All that a server with TS-MA needs: imported in the process that others are forked from."""

from thrifty.policies import TSMA
from thrifty.serve import kernels

kernels.load(TSMA(), TSMA().engine_for(2))
