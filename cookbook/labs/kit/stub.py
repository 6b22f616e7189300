"""The learner's function of a lab: found in its module, cut down to the stub, shown as the solution.

The code between the two marks exists once, in the lab's module. The stub is the same function with
that region replaced by nbgrader's own words, so that nbgrader and `make labs` make the same copy.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable
from types import ModuleType
from typing import Any

from cookbook.errors import ConfigError

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
INSTEAD = ("# YOUR CODE HERE", "raise NotImplementedError()")
_REGION = re.compile(rf"^([ \t]*){BEGIN}\n.*?^[ \t]*{END}$", re.DOTALL | re.MULTILINE)
_MARKS = re.compile(rf"^[ \t]*(?:{BEGIN}|{END})\n", re.MULTILINE)


def learner_function(module: ModuleType) -> Callable[..., Any]:
    """The one function of a lab's module that holds a solution region; ConfigError if it is not one, or if it has
    the lab's own name, which the notebook needs for the module."""
    functions = [
        value
        for value in vars(module).values()
        if inspect.isfunction(value)
        and value.__module__ == module.__name__
        and _REGION.search(inspect.getsource(value))
    ]
    if len(functions) != 1:
        raise ConfigError(
            f"{module.__name__} has {len(functions)} functions with a line {BEGIN!r} and a line {END!r}; a lab has one"
        )
    found: Callable[..., Any] = functions[0]
    if found.__name__ == module.__name__.rpartition(".")[2]:
        raise ConfigError(
            f"{module.__name__}: the function to write has the name of its lab and would hide it in the notebook; "
            "give it another name"
        )
    return found


def solution_cell(module: ModuleType) -> str:
    """Imports and function with its marks: the cell of the solution copy, from which nbgrader cuts the stub."""
    source = inspect.getsource(learner_function(module)).rstrip()
    imports = _imports(module, source)
    return f"{imports}\n\n\n{source}" if imports else source


def stub_cell(module: ModuleType) -> str:
    """The cell of the learner's copy."""
    return _REGION.sub(lambda region: "\n".join(region[1] + line for line in INSTEAD), solution_cell(module))


def folded_solution(module: ModuleType) -> str:
    """The function without the marks, for reading."""
    return _MARKS.sub("", inspect.getsource(learner_function(module))).rstrip()


def _imports(module: ModuleType, source: str) -> str:
    """What the function needs in a notebook: the module's own imports of the names it uses, and from the
    module whatever is defined there. Imports under TYPE_CHECKING count, because a notebook evaluates
    annotations."""
    used = {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}
    used.discard(learner_function(module).__name__)
    lines, here = [], set()
    tree = ast.parse(inspect.getsource(module))
    top = [inner for node in tree.body for inner in (node.body if isinstance(node, ast.If) else [node])]
    for node in top:
        if isinstance(node, ast.Import | ast.ImportFrom):
            node.names = [
                alias for alias in node.names if (alias.asname or alias.name.partition(".")[0]) in used
            ]
            if node.names:
                lines.append(ast.unparse(node))
        else:
            here |= defined(node) & used
    if here:
        lines.append(f"from {module.__name__} import {', '.join(sorted(here))}")
    return "\n".join(lines)


def defined(node: ast.stmt) -> set[str]:
    """The names that a function, a class or an assignment gives, in a tuple too; none for other statements."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    targets = (
        node.targets
        if isinstance(node, ast.Assign)
        else [node.target]
        if isinstance(node, ast.AnnAssign)
        else []
    )
    names = (name for target in targets for name in ast.walk(target) if isinstance(name, ast.Name))
    return {name.id for name in names if isinstance(name.ctx, ast.Store)}
