"""Takes the learner's function out of their file, a Python module or a notebook, without running more than it."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cookbook.errors import ConfigError, CookbookError
from cookbook.labs.kit.guarding import TIME_LIMIT, TooLong, run_limited
from cookbook.labs.kit.lab import Lab
from cookbook.labs.kit.stub import defined, learner_function
from cookbook.paths import read_text


def load(lab: Lab, path: Path) -> Callable[..., Any]:
    """The object that ``path`` defines under the name of the lab's stub.

    Of a notebook only the last cell that defines it is run. ConfigError, in one line, for a file that is
    missing, does not parse, fails or never ends while it is run, or does not define the name.
    """
    name = learner_function(lab.code()).__name__
    text = _cell(path, name) if path.suffix == ".ipynb" else read_text(path)
    linecache.cache[str(path)] = (len(text), None, text.splitlines(keepends=True), str(path))
    space: dict[str, Any] = {"__name__": "submission", "__file__": str(path)}
    try:
        code = compile(text, str(path), "exec")
        run_limited(lambda: exec(code, space), TIME_LIMIT)
    except SyntaxError as error:
        raise ConfigError(
            f"{path.name}, line {error.lineno}: {error.msg}; mend it and check again"
        ) from error
    except TooLong as error:
        raise ConfigError(
            f"{path.name} does not come to an end when it is imported; remove what it runs"
        ) from error
    except CookbookError:
        raise
    except (Exception, SystemExit) as error:
        said = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise ConfigError(
            f"{path.name} fails when it is imported ({said}); mend it and check again"
        ) from error
    if name not in space:
        raise ConfigError(f"{path.name} does not define {name}; write it as in the stub of {lab.slug}")
    found: Callable[..., Any] = space[name]
    return found


def _cell(path: Path, name: str) -> str:
    from cookbook import notebooks

    cells = [cell.source for cell in notebooks.read(path).cells if cell.cell_type == "code"]
    for source in reversed(cells):
        try:
            tree = ast.parse(source)
        except SyntaxError:  # a cell with IPython's own lines, or a broken one
            if f"def {name}(" in source:
                return str(source)
            continue
        if any(name in defined(node) for node in tree.body):
            return str(source)
    raise ConfigError(f"no cell of {path.name} defines {name}; is it the right notebook?")
