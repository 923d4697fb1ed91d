"""Tendril: slender structures and multibody systems that touch.

    import tendril

    results = tendril.run("scenes/beams/roll-up.yaml", overrides={"turns": 0.5})
    results.value("tip")            # the last value, with the meaning and unit in results.summary
    results["energy"]               # the series over the steps

Everything that C++ has is here under the same names: classes as they are, functions and members in snake_case
(LoadSteppingOptions.largestStep is largest_step). SI units; angles in radians; a 6-vector is translation first, rotation second. Arrays
may be given as lists; what a function returns is an array of NumPy. Lists of objects are copies: change them by assigning the whole list.
"""

from . import _core
from ._core import *  # noqa: F401,F403
from ._core import dimension, measures, se3, so3  # noqa: F401
from ._results import Results
from ._run import run
from ._study import Study, sweep
from . import plot

__version__ = _core.version()
__all__ = [name for name in dir(_core) if not name.startswith("_")] + ["Results", "Study", "run", "sweep", "plot"]
