"""Libraries that are heavy, and needed by few requests: loaded when first used.

A web process that never draws a PDF should not hold what draws them. A module that needs such a
library names it once, so that types are known and nothing is loaded::

    if TYPE_CHECKING:
        import numpy
    else:
        numpy = lazy("numpy")
"""

from __future__ import annotations

import importlib
import os
from types import ModuleType
from typing import Any

# What libraries read from the environment as they load. A process serves requests with threads of
# its own: those of a linear algebra library spin, and cost ten times what they save.
_ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


class LazyModule(ModuleType):
    """Stands for a module that is imported when its first attribute is asked for."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what inspecting tools ask of every module loads nothing
            raise AttributeError(name)
        for variable, value in _ENVIRONMENT.items():
            os.environ.setdefault(variable, value)
        value = getattr(importlib.import_module(self.__name__), name)
        setattr(self, name, value)  # found without this function from now on
        return value


def lazy(name: str) -> ModuleType:
    """The module ``name``, imported at its first use.

    Raises: ImportError, at the first use, when there is no such module.
    """
    return LazyModule(name)
