"""Scores of judges on outside data as committed files: what was measured, without the texts it was measured on.

``eval_sets/outside/<set>_<judge>.csv`` has a line for each pair: the hash of its texts, that of its group, its
label, the score (empty where the judge failed), the seconds, the prompt with its version, and the day. Figures in
notebooks come from these.

A failure is a result like another: it stays, and the pair is not asked again until its line is removed. Asking until
every reply can be read would hide how often a judge fails.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import date
from pathlib import Path

from cookbook import paths
from cookbook.errors import ConfigError
from cookbook.eval.judges import Judge, Judged, Known, Report, known, report
from cookbook.eval.lines import append_line, whole_lines
from cookbook.eval.outside import load_pairs, pair_set

COLUMNS = (*(field.name for field in fields(Judged)), "prompt", "date")


@dataclass(frozen=True)
class ScoreFile:
    """The scores of one judge on one set."""

    path: Path

    @classmethod
    def of(cls, eval_set: str, judge: str) -> ScoreFile:
        return cls(folder() / f"{eval_set}_{judge}.csv")

    @property
    def eval_set(self) -> str:
        return self.path.stem.partition("_")[0]

    @property
    def judge(self) -> str:
        return self.path.stem.partition("_")[2]

    @property
    def known(self) -> Known:
        """The cut and the prompt of this judge, as they are today; ConfigError for a file that is named otherwise."""
        try:
            return known(self.judge.partition("-")[0], pair_set(self.eval_set).asks)
        except ConfigError as error:
            raise ConfigError(
                f"{self.path.name} is not named <set>_<judge>.csv ({error}); rename or remove it"
            ) from error

    def read(self) -> list[Judged]:
        """The scored pairs; ConfigError for a line that is none, and for one of another version of the prompt."""
        today = self.known.prompt
        try:
            rows = list(csv.DictReader(whole_lines(self.path)))
            found, others = [_judged(row) for row in rows], {row["prompt"] for row in rows} - {today}
        except (OSError, KeyError, ValueError, csv.Error) as error:
            raise ConfigError(
                f"{self.path.name} is no file of scores ({error}); restore it, or remove it and score again"
            ) from error
        if others:
            raise ConfigError(
                f"{self.path.name} was scored with the prompt {min(others)}, today's is {today}: "
                "remove the file and score again"
            )
        return found

    def report(self, only: Collection[str] | None = None) -> Report:
        """The figures of this judge on this set, or on the pairs with these ids. ConfigError, naming the file, without
        scored pairs of both kinds."""
        rows = [row for row in self.read() if only is None or row.id in only]
        try:
            return report(rows, self.known.cut)
        except ConfigError as error:
            raise ConfigError(f"{self.path.name}: {error}, or remove the file") from error

    def add(self, judged: Judged) -> None:
        """Append one scored pair, with today's date, and see it on the disk."""
        row = asdict(judged) | {"good": int(judged.good)}
        row |= {"prompt": self.known.prompt, "date": date.today().isoformat()}
        row["score"] = "" if judged.score is None else f"{judged.score:.6f}"
        if not self.path.exists() or not whole_lines(self.path):
            append_line(self.path, ",".join(COLUMNS))
        line = io.StringIO()
        csv.DictWriter(line, COLUMNS, lineterminator="").writerow(row)
        append_line(self.path, line.getvalue())


def _judged(row: dict[str, str]) -> Judged:
    if len(row) != len(COLUMNS) or None in row.values():
        raise ValueError(f"a line has not the {len(COLUMNS)} columns")
    score = float(row["score"]) if row["score"] else None
    return Judged(row["id"], row["group"], row["good"] == "1", score, float(row["seconds"]))


def folder() -> Path:
    return paths.EVAL_SETS / "outside"


def score_files() -> list[ScoreFile]:
    """Every file of scores, sorted by set and judge."""
    return [ScoreFile(path) for path in sorted(folder().glob("*_*.csv"))]


def same_rows(files: Sequence[ScoreFile]) -> dict[str, set[str]]:
    """For each set the ids of the pairs that every judge of it has scored: only there are figures compared."""
    found: dict[str, set[str]] = {}
    for file in files:
        ids = {row.id for row in file.read()}
        found[file.eval_set] = found.get(file.eval_set, ids) & ids
    return found


def shown(file: ScoreFile, only: Collection[str] | None = None) -> dict[str, str | int | float]:
    """A row of the table of judges. AUC one half is a coin, and so is accuracy; both with 95 % intervals.
    Verdicts are by the cut; "seconds" are those of the median pair."""
    found = file.report(only)
    return {
        "set": file.eval_set,
        "judge": file.judge,
        "pairs": found.pairs,
        "cut": file.known.cut,
        "AUC": str(found.auc),
        "balanced accuracy": found.accuracy.percent,
        "failed": found.confusion.failed,
        "seconds": found.seconds,
    }


def score(
    eval_set: str, judge: Judge, limit: int | None = None, *, done: Callable[[], None] = lambda: None
) -> list[Judged]:
    """Score the first ``limit`` pairs of a set that are not scored yet, and give the scores of all those first pairs.

    Each score is on the disk before the next pair is asked, so a broken-off run goes on where it stopped.
    ConfigError while replies are recorded: a recording would hold texts that are not ours.
    """
    if os.environ.get("COOKBOOK_RECORD"):
        raise ConfigError(
            "unset COOKBOOK_RECORD: recordings are committed, and the texts of this set may not be"
        )
    file = ScoreFile.of(eval_set, judge.name)
    there = {judged.id: judged for judged in file.read()} if file.path.exists() else {}
    pairs = load_pairs(eval_set)[:limit]
    for pair in pairs:
        if pair.id not in there:
            there[pair.id] = judge.judged(pair)
            file.add(there[pair.id])
        done()
    return [there[pair.id] for pair in pairs]
