"""Data that other people labelled: to see whether a judge or a system holds up on texts nobody wrote for it.

The texts are not ours to commit. They come from the folder of outside data (``COOKBOOK_DATA``) if it has
them, else the public file at one commit is downloaded into the user cache; either way the bytes are checked.
The folder holds parts of the public files, one JSON object a line, and a downloaded file is cut down to the same
part: a set has the same pairs for everybody. ``eval_sets/outside/README.md`` says which.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from cookbook import paths
from cookbook.errors import ConfigError
from cookbook.eval.sets import EvalRow, GoldQuote
from cookbook.schema import Document

Asks = Literal["relevance", "support"]
Record = dict[str, Any]


@dataclass(frozen=True)
class LabelledPair:
    """One judgement with its right answer. ``good``: the passage helps (relevance), or holds the answer (support).

    ``id`` and ``group`` are hashes: they name a row and its question where the texts may not stand.
    """

    id: str
    group: str
    question: str
    passage: str
    answer: str
    good: bool


@dataclass(frozen=True)
class Source:
    """A public file at one commit, and the part of it that the folder of outside data holds."""

    part: str
    part_sha256: str
    repository: str
    commit: str
    path: str
    sha256: str
    licence: str
    read: Callable[[str], Iterable[Record]]
    """From the text of the public file to the records of the part."""

    @property
    def url(self) -> str:
        return f"https://raw.githubusercontent.com/{self.repository}/{self.commit}/{self.path}"


def records(source: Source) -> list[Record]:
    """The rows of a source, from the folder or from the public file; ConfigError when neither can be had."""
    part = paths.data_dir() / source.part
    if part.is_file():
        return list(_lines(_checked(part, source.part_sha256)))
    return list(source.read(_download(source)))


def _checked(path: Path, sha256: str) -> str:
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != sha256:
        raise ConfigError(
            f"{path} is not the file that was published; restore it, or remove it to download one"
        )
    return data.decode()


def _download(source: Source) -> str:
    import pooch

    pooch.get_logger().setLevel("WARNING")
    folder, name = paths.cache_dir() / "outside" / source.commit[:9], Path(source.path).name
    try:
        found = pooch.retrieve(source.url, f"sha256:{source.sha256}", fname=name, path=folder)
    except (OSError, ValueError) as error:  # no network or no such file; not the published bytes
        raise ConfigError(
            f"{source.part} is not here ({type(error).__name__}): go online once to download {name} from "
            f"{source.repository}, or set COOKBOOK_DATA to a folder that holds {source.part}"
        ) from error
    return Path(found).read_text(encoding="utf-8")


# ---------------------------------------------------------------- the public files


def _lines(text: str) -> Iterable[Record]:
    return (json.loads(line) for line in text.split("\n") if line.strip())


def _every_second(text: str) -> Iterable[Record]:
    return islice(_lines(text), 0, None, 2)


def _first_250(text: str) -> Iterable[Record]:
    return islice(_lines(text), 250)


def _begin(text: str) -> Iterable[Record]:
    # Quotation marks stand for themselves in this file, balanced or not.
    for row in csv.DictReader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE):
        yield {**row, "label": row["begin_label"]}


TREC_QUESTIONS = frozenset(
    """
    07ea1aababcb 123d054e2ff9 129e2df3fabf 15497ec956bc 1a093f419af8 1eb4812c0d4f 24760cc6da53
    27df82383c25 2f92beec3b8a 32c8c7087914 34983c36d96d 3dea359e5d34 472bee740774 49878ea3967c
    4a08a010b5fa 4d8fe64cb451 514764bca3d8 5b86313b1cab 638a66d25ce9 67888377dafd 763d3cf76102
    797b4b5a19b5 8279936da44d 87d9eb8d19bc 88f809e5d59b 8d66e9c4b916 901650ddde5a 914c486cc09e
    93b7c27f6e5b 980dd20cd2e5 98d4efbf2c1f 996b01d60f78 9e2b1bf3170c a2af64679f44 ab7f8828d10a
    b7c15208b4ad becf3e715a28 c75c8fc13d8f c86712bb3c1a cea324dc2cba d2d681b29a6d e0e10e6de405
    e3407f8dd1f1 e4263b843699 ea82ca57eadc ed104c875b95 edd4d253a23d
    """.split()
)
"""The half of TREC-QA that the part holds, drawn by no rule that could be said: the groups of its pairs."""


def _trec(text: str) -> Iterable[Record]:
    for row in csv.DictReader(io.StringIO(text)):
        if _hash(row["qtext"]) in TREC_QUESTIONS:
            yield {"question": row["qtext"], "passage": row["atext"], "relevant": int(row["label"])}


def _normans(text: str) -> Iterable[Record]:
    [article] = [article for article in json.loads(text)["data"] if article["title"] == "Normans"]
    for n, paragraph in enumerate(article["paragraphs"]):
        for asked in paragraph["qas"]:
            answers = list(dict.fromkeys(answer["text"] for answer in asked["answers"]))
            yield {
                "id": asked["id"],
                "paragraph": f"Normans-{n}",
                "context": paragraph["context"],
                "question": asked["question"],
                "answers": answers,
                "is_impossible": asked["is_impossible"],
            }


TREC_QA = Source(
    part="trecqa_a.jsonl",
    part_sha256="60a53a33977331da1eecf717fca0dde14655ca6b2c40d7f6d28c48cdbdd0e4e5",
    repository="brmson/dataset-sts",
    commit="e1d3375f5b3bc24f21aa4e46f96eb379e9fc1081",
    path="data/anssel/wang/test.csv",
    sha256="5aaf688f8c79a0eab96c77dcc8919e82006169712a799aa97343588000769288",
    licence="see its README",
    read=_trec,
)
BEGIN = Source(
    part="begin_wow_dev.jsonl",
    part_sha256="4ebcd05730263038d51c4aa3f22e327b3cc30f17d00983556f8c0c6a64f19428",
    repository="google/BEGIN-dataset",
    commit="6e65f0d5a1ed1b9574643a7640ff1678d4e979b5",
    path="wow/begin_dev_wow.tsv",
    sha256="2ebfc95a1ff267e12dcce3250da4d158e1811c62e9e1a0d56f110efc9ace0178",
    licence="see wow/LICENSE there",
    read=_begin,
)
FEVER_SYMMETRIC = Source(
    part="fever_symmetric_a.jsonl",
    part_sha256="753eb2b329e7e908a357d2b7bc50757636485efc399261e7face587a12158282",
    repository="TalSchuster/FeverSymmetric",
    commit="fa25d17e73ea0694edc78133ec654b9f32f6db73",
    path="symmetric_v0.2/fever_symmetric_dev.jsonl",
    sha256="1d43d016da9264de2139cd10edd459ffbeac84f1fd85d60b70ab6ef63d283f81",
    licence="CC BY-SA 3.0",
    read=_every_second,
)
HALUEVAL_QA = Source(
    part="halueval_qa_a.jsonl",
    part_sha256="e69e3543b0dc0696318ca8b9557b3f7317d12758cbfeb50d88eee35098106002",
    repository="RUCAIBox/HaluEval",
    commit="b7253db3cdaa0ab2c382f92b26b390109174f77e",
    path="generation/qa/qa_one-turn_data.json",
    sha256="a69227a32d03a0f034db10de62a92cdfd0e57c305f72a9f8c48e0edab74e44f6",
    licence="MIT",
    read=_first_250,
)
SQUAD = Source(
    part="squad2_normans.jsonl",
    part_sha256="19d8ce998b802c2bf13b0bb8f2d2b8c907b4993322db39fe6e91a80734958f53",
    repository="deepset-ai/haystack",
    commit="3ffdb0a9a3a11d581401415e58bf04b29d888ecd",
    path="test/samples/squad/small.json",
    sha256="dfed6c7aefe89fdcb8ed63b98dc742a0acf3565d92f97c61efaa077012b0fe68",
    licence="CC BY-SA 4.0",
    read=_normans,
)


# ---------------------------------------------------------------- typed rows


def _pair(question: str, passage: str, answer: str, good: bool, group: str) -> LabelledPair:
    return LabelledPair(_hash(question, passage, answer), _hash(group), question, passage, answer, good)


def _hash(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:12]


def _of_trec(row: Record) -> Iterable[LabelledPair]:
    yield _pair(row["question"], row["passage"], "", bool(row["relevant"]), row["question"])


def _of_begin(row: Record) -> Iterable[LabelledPair]:
    good = row["label"] == "Fully attributable"
    yield _pair(row["message"], row["knowledge"], row["response"], good, row["knowledge"])


def _of_fever(row: Record) -> Iterable[LabelledPair]:
    good = row["label"] == "SUPPORTS"
    yield _pair("Is this true?", row["evidence"], row["claim"], good, row["evidence"])


def _of_halueval(row: Record) -> Iterable[LabelledPair]:
    for answer, good in ((row["right_answer"], True), (row["hallucinated_answer"], False)):
        yield _pair(row["question"], row["knowledge"], answer, good, row["question"])


def _of_squad(row: Record) -> Iterable[LabelledPair]:
    yield _pair(row["question"].strip(), row["context"], "", not row["is_impossible"], row["context"])


@dataclass(frozen=True)
class PairSet:
    """A set of labelled pairs: what it asks a judge, where it comes from, and the pairs in one of its records."""

    asks: Asks
    source: Source
    pairs: Callable[[Record], Iterable[LabelledPair]]


PAIR_SETS = {
    "trec-qa": PairSet("relevance", TREC_QA, _of_trec),
    "squad-impossible": PairSet("relevance", SQUAD, _of_squad),
    "begin": PairSet("support", BEGIN, _of_begin),
    "fever-symmetric": PairSet("support", FEVER_SYMMETRIC, _of_fever),
    "halueval-qa": PairSet("support", HALUEVAL_QA, _of_halueval),
}


def pair_set(name: str) -> PairSet:
    """A set by name; ConfigError lists the known ones."""
    if name not in PAIR_SETS:
        raise ConfigError(f"no set of labelled pairs is called {name!r}; known: {', '.join(PAIR_SETS)}")
    return PAIR_SETS[name]


def load_pairs(name: str) -> list[LabelledPair]:
    """The pairs of a set, good and bad ones in turn as long as both last, so that any beginning is balanced.

    Within each kind they are in the order of their ids, which is no order at all. A pair that occurs twice is
    kept once. ConfigError for an unknown set, and when its texts are neither here nor to be had.
    """
    found = pair_set(name)
    unique = {pair.id: pair for record in records(found.source) for pair in found.pairs(record)}
    good, bad = ([pair for _, pair in sorted(unique.items()) if pair.good is kind] for kind in (True, False))
    both = min(len(good), len(bad))
    turns = [pair for two in zip(good, bad, strict=False) for pair in two]
    return [*turns, *good[both:], *bad[both:]]


def load_squad() -> tuple[list[Document], list[EvalRow]]:
    """One article of SQuAD 2.0 as a corpus, a document a paragraph, and its questions: 96 with an answer there,
    112 that read as if they had one. They come in the order of their ids, which are random."""
    found = records(SQUAD)
    documents = {row["paragraph"]: Document(row["paragraph"], row["context"], "Normans") for row in found}
    return list(documents.values()), sorted(map(_squad_row, found), key=lambda row: row.id)


def _squad_row(row: Record) -> EvalRow:
    answers = tuple(row["answers"])
    return EvalRow(
        id=row["id"],
        question=row["question"].strip(),
        answer=answers[0] if answers else "",
        kind="answerable" if answers else "unanswerable_near",
        behaviour="answer" if answers else "refuse",
        gold=(GoldQuote(row["paragraph"], answers[0]),) if answers else (),
        variants=answers[1:],
        split="report",
        facts=(answers,) if answers else (),
        corpus="squad",
    )
