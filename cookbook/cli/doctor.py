"""``cookbook doctor``: OK or FAIL for each thing that has to be in place."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from cookbook.cli.output import JsonFlag, command, print_json


@command
def doctor(
    full: Annotated[bool, typer.Option("--full", help="Hash the weights as well (seconds per GB).")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Check this installation line by line. Exit 1 if anything fails; the line says what to do."""
    from cookbook.doctor import examine

    checks = []
    for check in examine(full=full):
        checks.append(check)
        if not as_json:
            print(f"{'OK' if check.ok else 'FAIL':4}  {check.name}: {check.detail}")
            if check.fix and not check.ok:
                print(f"      -> {check.fix}")
    if as_json:
        print_json([asdict(check) for check in checks])
    failed = sum(not check.ok for check in checks)
    if failed:
        if not as_json:
            print(f"{failed} of {len(checks)} checks failed")
        raise typer.Exit(1)
