"""A question in another language is told from a question without an answer, and from an English one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cookbook.baselines import Extractive, Vanilla
from cookbook.corpora import CorpusCard, load_eval_questions
from cookbook.embedders import HashEmbedder, MiniLM
from cookbook.ingest import ingest
from cookbook.language import language_of, notice
from cookbook.providers import LLMClient
from cookbook.providers.scripted import scripted_table
from cookbook.reflect.calibrate import Sigmoid
from cookbook.retrieval import Retriever
from cookbook.schema import Chunk, ScoreKind, Status
from cookbook.stores import QdrantBackend
from cookbook.systems.base import Parts

QUESTIONS = {
    "de": [
        "Kann ich meine Daten nach der Kündigung exportieren?",
        "Was kostet der Tarif?",
        "Was ist ein RefCell?",
    ],
    "fr": ["Puis-je exporter mes données après la résiliation ?", "Combien coûte le forfait ?"],
    "es": ["¿Puedo exportar mis datos después de cancelar?", "donde esta la clave"],
    "it": ["Posso esportare i miei dati dopo la disdetta?", "Quanto costa il piano?"],
    "pt": ["Posso exportar os meus dados depois de cancelar?"],
    "nl": ["Kan ik mijn gegevens exporteren na het opzeggen?", "Wat is een RefCell?"],
    "pl": ["Czy mogę wyeksportować dane po anulowaniu?"],
    "sv": ["Kan jag exportera mina data efter uppsägning?"],
    "tr": ["Aboneliğimi iptal ettikten sonra verilerimi dışa aktarabilir miyim?"],
    "vi": ["Tôi có thể xuất dữ liệu sau khi hủy không?"],
    "cs": ["Mohu exportovat svá data po zrušení?"],
    "fi": ["Voinko viedä tietoni peruutuksen jälkeen?"],
    "hu": ["Exportálhatom az adataimat a lemondás után?"],
    "ja": ["解約後にデータをエクスポートできますか？"],
    "zh": ["取消后可以导出数据吗？"],
    "ko": ["해지 후에 데이터를 내보낼 수 있나요?"],
    "ar": ["هل يمكنني تصدير بياناتي بعد الإلغاء؟"],
    "ru": ["Можно ли экспортировать данные после отмены?"],
    "hi": ["रद्द करने के बाद क्या मैं डेटा निर्यात कर सकता हूँ?"],
    "th": ["ยกเลิกแล้วส่งออกข้อมูลได้ไหม"],
    "el": ["Μπορώ να εξαγάγω τα δεδομένα;"],
    "he": ["האם אפשר לייצא נתונים?"],
}


@pytest.mark.parametrize(
    ("language", "text"), [(k, text) for k, texts in QUESTIONS.items() for text in texts]
)
def test_a_short_question_tells_its_language(language, text):
    assert language_of(text) == language


def test_no_english_question_is_taken_for_another_language():
    asked = [row.question for row in load_eval_questions()]
    assert len(asked) > 200
    foreign = {text: found for text in asked if (found := language_of(text)) not in ("", "en")}
    # The sets hold a few questions in other languages on purpose.
    assert set(foreign.values()) <= {"de"}
    assert len(foreign) <= 3


@pytest.mark.parametrize(
    "text",
    ["", "RefCell", "E0382", "C++", "9+10", "ok", "node.js", "error LK-504", "docker compose up", "cancel plan",
     "pip install numpy", "git rebase --onto", "What does 'Schadenfreude' mean?", "Who is José García?",
     "naïve café", "https://example.org/über-uns", "`let größe = 5`"],
)  # fmt: skip
def test_codes_names_and_bare_words_are_in_no_other_language(text):
    assert language_of(text) in ("", "en")


# ---------------------------------------------------------------- what a reader is told


class English(HashEmbedder):
    """Counts words, under the name of an embedder that reads English."""

    fingerprint = replace(HashEmbedder.fingerprint, name=MiniLM.NAME)


PASSAGES = ("You can export your data for 30 days.", "Members are invited by an admin.")
GERMAN = "Kann ich meine Daten nach der Kündigung exportieren?"
NOTICE = (
    "The question looks German and the embedder all-minilm-l6-v2 reads English only, so the search may have missed "
    "what the documents say; ask in English, or use an embedder for many languages."
)


def parts(embedder: HashEmbedder, mode: str = "dense", model: LLMClient | None = None) -> Parts:
    store = QdrantBackend("texts", embedder.fingerprint.dim)
    store.index([Chunk(f"a.md#{n}", "a.md", t, 0, len(t)) for n, t in enumerate(PASSAGES)], embedder)
    card = CorpusCard("texts", "Ask somebody.", ())
    return Parts(model, Retriever(store, embedder, mode), card)


def asked(parts: Parts, question: str):
    strict = Sigmoid(tau=0.9, temperature=0.01, kind=ScoreKind.COSINE)
    return Extractive(parts, calibration=strict).answer(question)


def test_a_refusal_does_not_blame_the_documents():
    answer = asked(parts(English()), GERMAN)
    assert answer.status is Status.REFUSED
    assert answer.text == f"{NOTICE} I looked, and none of the passages I found answers this. Ask somebody."
    retrieve, grade = answer.trace.steps
    assert retrieve.note.splitlines()[1:] == [NOTICE]
    assert NOTICE not in grade.note


def test_an_answer_keeps_its_words_and_the_trace_has_the_notice():
    model = LLMClient(scripted_table({"": "Ja, 30 Tage lang [1]."}))
    answer = Vanilla(parts(English(), model=model)).answer(GERMAN)
    assert (answer.status, answer.text) == (Status.ANSWERED, "Ja, 30 Tage lang.")
    assert NOTICE in answer.trace.steps[0].note


def test_no_notice_where_none_is_due():
    english = "Can I export my data after I cancel?"
    assert notice(english, parts(English()).retriever) == ""
    assert asked(parts(English()), "Who sings?").text.startswith("I looked, and none")
    assert notice(GERMAN, parts(HashEmbedder()).retriever) == ""  # of which nobody said that it is English
    assert notice(GERMAN, parts(English(), mode="bm25").retriever) == ""  # words are words
    assert notice(GERMAN, parts(English(), mode="hybrid").retriever) == NOTICE


def test_documents_in_another_language_are_named_when_they_are_read(tmp_path, monkeypatch):
    monkeypatch.setenv("COOKBOOK_CACHE", str(tmp_path / "cache"))
    (tmp_path / "docs").mkdir()
    texts = {
        "ja.md": "# 契約\n\n解約後は三十日以内にデータをエクスポートできます。その後は読み取り専用になります。",
        "en.md": "# Contract\n\nFor thirty days after you cancel you can export your data.",
        "short.txt": "Größe XL",
        "code.py": "def größe(länge): return länge * 2  # die Größe ist das Doppelte der Länge",
    }
    for name, text in texts.items():
        (tmp_path / "docs" / name).write_text(text, encoding="utf-8")
    notes = {file.name: file.note for file in ingest([tmp_path / "docs"], English()).files}
    assert notes == dict.fromkeys(texts, "") | {
        "ja.md": "Japanese, which all-minilm-l6-v2 does not read well"
    }
    assert set({file.note for file in ingest([tmp_path / "docs"], HashEmbedder()).files}) == {""}
