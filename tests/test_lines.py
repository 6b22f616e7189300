"""Files that grow by a line: wherever a kill tears the last one, only that one is lost."""

from cookbook.eval.lines import append_line, whole_lines


def test_a_torn_line_is_passed_over_and_cut_off_before_the_next(tmp_path):
    path = tmp_path / "new" / "kept.txt"
    append_line(path, "one")
    append_line(path, "zwölf\u2028")
    whole = path.read_bytes()
    assert whole_lines(path) == ["one", "zwölf\u2028"]
    for torn in range(len(whole)):
        path.write_bytes(whole[:torn])
        before = whole_lines(path)
        assert before == ["one"][: whole[:torn].count(b"\n")]
        assert path.read_bytes() == whole[:torn]
        append_line(path, "three")
        assert whole_lines(path) == [*before, "three"]
