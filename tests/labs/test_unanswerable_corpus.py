"""What the check of unanswerable_corpus says of tests that are green on an index without the answers."""

from cookbook.labs.unanswerable_corpus import ask_recipe, broken, check, index, questions, solution

BROKEN = "file_is_not_quote"


def held(quote, chunks):
    return any(quote.stands_in(chunk) for chunk in chunks)


def one_quote_will_do(rows, chunks):
    return {
        row.id: [quote.quote for quote in row.gold]
        for row in rows
        if row.gold and not any(held(quote, chunks) for quote in row.gold)
    }


def in_all_chunks_of_the_file(rows, chunks):
    def lost(row):
        text = {quote.file: "".join(c.text for c in chunks if c.doc_id == quote.file) for quote in row.gold}
        return [quote.quote for quote in row.gold if quote.quote not in text[quote.file]]

    return {row.id: quotes for row in rows if (quotes := lost(row))}


def not_any(rows, chunks):
    return {
        row.id: [quote.quote for quote in row.gold]
        for row in rows
        if not any(held(quote, chunks) for quote in row.gold)
    }


def all_quotes_of_the_row(rows, chunks):
    return {row.id: [quote.quote for quote in row.gold] for row in rows if row.id in solution()(rows, chunks)}


def the_answer_instead(rows, chunks):
    return {
        row.id: [row.answer]
        for row in rows
        if row.gold and not any(row.answer in chunk.text for chunk in chunks)
    }


def in_the_first_chunk(rows, chunks):
    return solution()(rows, [chunk for chunk in chunks if chunk.chunk_id.endswith("#0")])


WRONG = {
    "one quote will do": (one_quote_will_do, "one_of_two"),
    "in all chunks of the file": (in_all_chunks_of_the_file, "cut_in_two"),
    "rows that hold none": (not_any, "nothing_to_look_for"),
    "all quotes of the row": (all_quotes_of_the_row, "not_the_missing_ones"),
    "the words of the answer": (the_answer_instead, "held_and_reported"),
}


def test_the_symptom():
    asked, meter = ask_recipe(index("landing"))
    assert (len(asked), sum(one.kept > 0 for one in asked)) == (55, 14)
    assert (sum(one.kept for one in asked), sum(len(one.graded) for one in asked)) == (14, 440)
    assert meter.calls == 55 * 9 + 14 * 2


def test_the_same_filter_on_the_whole_corpus():
    asked, _ = ask_recipe(index("sections"))
    assert sum(one.kept > 0 for one in asked) == 54
    assert sum(one.kept for one in asked) == 59


def test_what_each_index_lacks():
    assert [len(index(name)) for name in ("landing", "sections", "windows")] == [28, 127, 307]
    lacks = {name: solution()(questions(), index(name)) for name in ("landing", "sections", "windows")}
    assert {name: len(found) for name, found in lacks.items()} == {
        "landing": 44,
        "sections": 0,
        "windows": 20,
    }
    assert broken()(questions(), index("landing")) == {}


def test_the_message_names_the_chunk_that_is_there():
    assert (
        "The index has 1 chunk of 01-ownership.md, 01-ownership.md#0, and the quote stands in another"
        in check(broken()).message
    )


def test_a_part_of_the_index_is_not_the_index():
    assert check(in_the_first_chunk).diagnosis == "held_and_reported"
