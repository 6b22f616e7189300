"""``cookbook judges``: how good a grader is on pairs that other people labelled."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from cookbook.cli.output import JsonFlag, command, counting, print_json
from cookbook.errors import ConfigError
from cookbook.show import show_table

if TYPE_CHECKING:
    from cookbook.eval.scores import ScoreFile


@command
def judges(
    eval_set: Annotated[
        str | None,
        typer.Option("--set", help="trec-qa, squad-impossible, begin, fever-symmetric or halueval-qa."),
    ] = None,
    grader: Annotated[
        str | None, typer.Option(help="cosine, critic, llm or entailment; the last two ask PROVIDER's model.")
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
    from cookbook.eval.scores import same_rows, score_files, shown

    if (eval_set is None) != (grader is None):
        raise ConfigError("say both --set and --grader to score pairs, or neither to see what is scored")
    files = [_score(eval_set, grader, limit)] if eval_set and grader else score_files()
    only = same_rows(files) if same else {}
    if as_json:
        print_json(
            [
                {"set": f.eval_set, "judge": f.judge, "cut": f.known.cut}
                | asdict(f.report(only.get(f.eval_set)))
                for f in files
            ]
        )
    else:
        show_table([shown(file, only.get(file.eval_set)) for file in files])


def _score(eval_set: str, grader: str, limit: int | None) -> ScoreFile:
    from cookbook.eval.judges import open_judge
    from cookbook.eval.outside import load_pairs, pair_set
    from cookbook.eval.scores import ScoreFile, score

    judge = open_judge(grader, pair_set(eval_set).asks)
    total = len(load_pairs(eval_set)[:limit])
    with counting(total) as done:
        score(eval_set, judge, limit, done=lambda: done(f"{judge.name} on {eval_set}"))
    return ScoreFile.of(eval_set, judge.name)
