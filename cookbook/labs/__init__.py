"""Planted failures: one module for each, with what is broken, what mends it, and a check that explains.

``families.py`` says which labs there are and in which order; a lab is here when its module is.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from cookbook.errors import ConfigError
from cookbook.labs.families import FAMILIES, Family

if TYPE_CHECKING:
    from cookbook.labs.kit import Lab


def labs_of(family: Family) -> list[Lab]:
    """The labs of a family that have been written, in order."""
    names = (f"{__name__}.{slug}" for slug in family.slugs)
    return [import_module(name).LAB for name in names if find_spec(name) is not None]


def all_labs() -> list[Lab]:
    """Every lab, family by family."""
    return [lab for family in FAMILIES for lab in labs_of(family)]


def get(slug: str) -> Lab:
    """The lab of this slug; ConfigError for an unknown one."""
    found = {lab.slug: lab for lab in all_labs()}
    if slug not in found:
        raise ConfigError(f"there is no lab {slug!r}; see: cookbook labs")
    return found[slug]
