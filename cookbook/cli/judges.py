"""``cookbook judges``: how good a grader is on pairs that other people labelled."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from operator import itemgetter
from textwrap import fill
from typing import TYPE_CHECKING, Annotated

import typer

from cookbook.cli.output import JsonFlag, command, counting, print_json
from cookbook.cli.record import environment
from cookbook.errors import ConfigError
from cookbook.show import PLAIN_WIDTH, show_table

if TYPE_CHECKING:
    from cookbook.eval.scores import ScoreFile

NOTE = (
    "One half is a coin, in the AUC and in the accuracy (balanced), both with 95% intervals. From the cut on a score is a "
    "yes; the cuts were set on our own data. Seconds are those of the median pair, on a machine with other work: they "
    "order judges roughly. Judges that have scored different pairs are compared with --same-rows only."
)


@command
def judges(
    eval_set: Annotated[
        str | None,
        typer.Option("--set", help="trec-qa, squad-impossible, begin, fever-symmetric or halueval-qa."),
    ] = None,
    grader: Annotated[
        str | None,
        typer.Option(
            help="cosine, critic, llm, or on sets of support entailment; the last two ask PROVIDER's model, or the local one."
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=2, help="Only the first pairs of the set, half of them good.")
    ] = None,
    same: Annotated[
        bool, typer.Option("--same-rows", help="Only the pairs that every judge of a set has scored.")
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    """Score a grader on a set, or show every score that is kept.

    With --set and --grader, pairs that are not scored yet are scored and kept; without, nothing is asked.
    """
    from cookbook.eval.scores import same_rows, score_files

    if (eval_set is None) != (grader is None):
        raise ConfigError("say both --set and --grader to score pairs, or neither to see what is scored")
    if limit is not None and eval_set is None:
        raise ConfigError("--limit says how many pairs to score; say --set and --grader with it")
    files = [_score(eval_set, grader, limit)] if eval_set and grader else score_files()
    only = same_rows(score_files()) if same else {}
    if as_json:
        print_json(
            [
                {"set": f.eval_set, "judge": f.judge, "cut": f.known.cut}
                | asdict(f.report(only.get(f.eval_set)))
                for f in files
            ]
        )
    else:
        _show(files, only)


def _show(files: Sequence[ScoreFile], only: Mapping[str, Collection[str]]) -> None:
    """A table for each set: judges of different sets are no competitors."""
    from cookbook.eval.scores import shown

    rows = [shown(file, only.get(file.eval_set)) for file in files]
    for eval_set, judged in groupby(rows, itemgetter("set")):
        columns = [
            {name.removesuffix(" accuracy"): row[name] for name in row if name != "set"} for row in judged
        ]
        show_table(columns, str(eval_set))
        print()
    print(fill(NOTE, PLAIN_WIDTH))


def _score(eval_set: str, grader: str, limit: int | None) -> ScoreFile:
    from cookbook.eval.judges import open_judge
    from cookbook.eval.outside import load_pairs, pair_set
    from cookbook.eval.scores import ScoreFile, score

    with environment(PROVIDER=os.environ.get("PROVIDER") or "local"):
        judge = open_judge(grader, pair_set(eval_set).asks)
    total = len(load_pairs(eval_set)[:limit])
    with counting(total) as done:
        score(eval_set, judge, limit, done=lambda: done(f"{judge.name} on {eval_set}"))
    return ScoreFile.of(eval_set, judge.name)
