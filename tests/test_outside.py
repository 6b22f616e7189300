"""Outside data: the same rows from a part and from a public file, and no row from a file that was changed."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

import pytest

from cookbook import paths
from cookbook.errors import ConfigError
from cookbook.eval import outside
from cookbook.eval.outside import PAIR_SETS, Source, load_pairs, load_squad, records
from cookbook.eval.scores import score_files

PUBLIC = {  # in the form of the public files, with their quirks
    "begin_wow_dev.jsonl": (
        "model_name\tdata_source\tknowledge\tmessage\tresponse\tbegin_label\n"
        'm\twow\tOften called "the king.\tWho?\tThe king.\tFully attributable\n'
        "m\twow\tA pigment.\tOh?\tIt is red.\tNot fully attributable\n"
    ),
    "trecqa_a.jsonl": (
        "qtext,label,atext\n"
        "Why ?,1,Because .\n"
        'Who discovered quarks ?,1,"It was , he said , ""me"" ."\n'
        "Who discovered quarks ?,0,Nobody .\n"
        "How ?,0,By car .\n"
    ),
    "fever_symmetric_a.jsonl": (
        '{"id": "1", "claim": "A .", "evidence": "B .", "gold_label": "SUPPORTS", "label": "SUPPORTS"}\n'
        '{"id": "2", "claim": "D .", "evidence": "E .", "gold_label": "REFUTES", "label": "REFUTES"}\n'
        '{"id": "3", "claim": "C .", "evidence": "B .", "gold_label": "REFUTES", "label": "REFUTES"}\n'
        '{"id": "4", "claim": "F .", "evidence": "E .", "gold_label": "SUPPORTS", "label": "SUPPORTS"}\n'
    ),
    "halueval_qa_a.jsonl": "".join(
        f'{{"knowledge": "K\u2028.", "question": "Q{n}?", "right_answer": "R", "hallucinated_answer": "H"}}\n'
        for n in range(500)
    ),
}
PARTS = {  # what the folder of outside data would hold of them
    "begin_wow_dev.jsonl": [
        {
            "knowledge": 'Often called "the king.',
            "message": "Who?",
            "response": "The king.",
            "label": "Fully attributable",
        },
        {
            "knowledge": "A pigment.",
            "message": "Oh?",
            "response": "It is red.",
            "label": "Not fully attributable",
        },
    ],
    "trecqa_a.jsonl": [
        {"question": "Who discovered quarks ?", "passage": 'It was , he said , "me" .', "relevant": 1},
        {"question": "Who discovered quarks ?", "passage": "Nobody .", "relevant": 0},
    ],
    "fever_symmetric_a.jsonl": [
        {"claim": "A .", "evidence": "B .", "label": "SUPPORTS"},
        {"claim": "C .", "evidence": "B .", "label": "REFUTES"},
    ],
    "halueval_qa_a.jsonl": [
        {"knowledge": "K\u2028.", "question": f"Q{n}?", "right_answer": "R", "hallucinated_answer": "H"}
        for n in range(250)
    ],
}
SQUAD = {
    "data": [
        {"title": "Computers", "paragraphs": []},
        {
            "title": "Normans",
            "paragraphs": [
                {
                    "context": "Rollo led them to Normandy.",
                    "qas": [
                        {
                            "id": "1",
                            "question": " Who led them?",
                            "is_impossible": False,
                            "answers": [{"text": "Rollo"}, {"text": "Rollo"}],
                        },
                        {
                            "id": "2",
                            "question": "Who left them?",
                            "is_impossible": True,
                            "answers": [],
                            "plausible_answers": [{"text": "Rollo"}],
                        },
                    ],
                }
            ],
        },
    ]
}


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def lines(rows: list) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


PUBLIC["squad2_normans.jsonl"] = json.dumps(SQUAD)
PARTS["squad2_normans.jsonl"] = list(outside.SQUAD.read(PUBLIC["squad2_normans.jsonl"]))


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv("COOKBOOK_DATA", str(tmp_path))
    return tmp_path


def put_part(folder, monkeypatch, name: str) -> None:
    """The made-up part in the folder, under the hash that is expected of it."""
    source, text = PAIR_SETS[name].source, lines(PARTS[PAIR_SETS[name].source.part])
    (folder / source.part).write_text(text)
    known = replace(PAIR_SETS[name], source=replace(source, part_sha256=sha256(text)))
    monkeypatch.setitem(PAIR_SETS, name, known)


@pytest.mark.parametrize("name", PAIR_SETS)
def test_a_part_and_the_public_file_give_the_same_pairs(name, folder, monkeypatch):
    public = PUBLIC[PAIR_SETS[name].source.part]
    monkeypatch.setattr(outside, "_download", lambda source: public)
    downloaded = load_pairs(name)
    put_part(folder, monkeypatch, name)
    monkeypatch.setattr(outside, "_download", None)
    assert load_pairs(name) == downloaded
    pairs = 500 if name == "halueval-qa" else 2
    assert [pair.good for pair in downloaded] == [True, False] * (pairs // 2)
    assert len({pair.id for pair in downloaded}) == pairs


def test_the_questions_of_trec_are_those_that_were_scored():
    scored = {row.group for file in score_files() if file.eval_set == "trec-qa" for row in file.read()}
    assert scored == outside.TREC_QUESTIONS
    assert len(scored) == 47


def test_a_changed_part_is_refused(folder):
    (folder / "trecqa_a.jsonl").write_text("{}\n")
    with pytest.raises(ConfigError, match=r"trecqa_a\.jsonl is not the file that was published"):
        load_pairs("trec-qa")


def test_without_folder_and_network_it_says_what_to_do(folder, monkeypatch):
    monkeypatch.setenv("COOKBOOK_CACHE", str(folder / "cache"))
    with pytest.raises(ConfigError, match=r"go online once .* or set COOKBOOK_DATA .* trecqa_a\.jsonl"):
        load_pairs("trec-qa")


def test_a_downloaded_file_is_checked(folder, monkeypatch):
    """As pooch does it: here it finds the file in the cache already, with other bytes, and no network to replace it."""
    monkeypatch.setenv("COOKBOOK_CACHE", str(folder / "cache"))
    source = PAIR_SETS["trec-qa"].source
    there = paths.cache_dir() / "outside" / source.commit[:9] / "test.csv"
    there.parent.mkdir(parents=True)
    there.write_text(PUBLIC[source.part])
    with pytest.raises(ConfigError, match="trecqa_a"):
        records(source)
    assert records(replace(source, sha256=sha256(PUBLIC[source.part]))) == PARTS[source.part]


def test_any_beginning_is_balanced_and_the_rest_follows(folder, monkeypatch):
    rows = [{"question": "q", "passage": str(n), "relevant": int(n < 3)} for n in range(10)]
    rows.append(rows[0])
    monkeypatch.setattr(outside, "records", lambda source: rows)
    pairs = load_pairs("trec-qa")
    assert [pair.good for pair in pairs] == [True, False] * 3 + [False] * 4
    assert load_pairs("trec-qa") == pairs


def test_an_unknown_set():
    with pytest.raises(ConfigError, match="trec-qa"):
        load_pairs("nowhere")


def test_squad_is_a_corpus_with_questions(folder, monkeypatch):
    monkeypatch.setattr(outside, "_download", lambda source: json.dumps(SQUAD))
    [document], [answerable, impossible] = load_squad()
    assert (document.doc_id, document.text) == ("Normans-0", "Rollo led them to Normandy.")
    assert (answerable.question, answerable.behaviour, answerable.facts) == (
        "Who led them?",
        "answer",
        (("Rollo",),),
    )
    assert answerable.states("It was Rollo.")
    assert (impossible.behaviour, impossible.gold, impossible.facts) == ("refuse", (), ())


def test_every_source_is_pinned():
    sources: list[Source] = [*(each.source for each in PAIR_SETS.values()), outside.SQUAD]
    for source in sources:
        assert len(source.commit) == 40
        assert source.url.startswith("https://raw.githubusercontent.com/")
        assert len(source.sha256) == len(source.part_sha256) == 64
        assert source.licence


@pytest.mark.skipif(not paths.data_dir().is_dir(), reason="no folder of outside data (COOKBOOK_DATA)")
def test_the_real_parts_have_the_rows_they_should():
    counts = {
        name: (len(pairs), sum(p.good for p in pairs)) for name in PAIR_SETS if (pairs := load_pairs(name))
    }
    assert counts == {
        "trec-qa": (755, 133),
        "squad-impossible": (208, 96),
        "begin": (430, 180),
        "fever-symmetric": (354, 177),
        "halueval-qa": (500, 250),
    }
    documents, rows = load_squad()
    assert (len(documents), len(rows), sum(row.behaviour == "answer" for row in rows)) == (39, 208, 96)
    texts = {document.doc_id: document.text for document in documents}
    assert all(quote.quote in texts[quote.file] for row in rows for quote in row.gold)
    assert all(row.states(row.answer) for row in rows if row.gold)
