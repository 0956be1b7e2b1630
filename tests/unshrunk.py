"""A plugin of pytest for mutation: no smaller example is sought, and calls may nest deeper.

Only whether a test fails is asked there, and the tool's own calls stand between ours.
"""

import sys

from hypothesis import Phase, settings

settings.register_profile(
    "unshrunk", phases=(Phase.explicit, Phase.generate), database=None, deadline=None
)
settings.load_profile("unshrunk")
sys.setrecursionlimit(4 * sys.getrecursionlimit())
