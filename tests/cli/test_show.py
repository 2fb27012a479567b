"""Reports in a terminal: columns that fit, bars where there is room, and what is said of a part."""

from dataclasses import replace

import numpy as np
import pytest

from duramen.cli.show import fitting, show
from duramen.reports import Report, Run
from duramen.reports.report import OF_GROUPS, Section, Table
from duramen.results.summary import Column, places

WIDE = 14


def column(title, minor=0, **more):
    return Column(title, ["x" * WIDE] * 3, minor=minor, **more)


def a_report(columns, **more):
    table = Table("Rows", tuple(columns), "", total=5, what="things", main=True, brief=("Said.",))
    other = Section("Other", facts=(("a", "b"),), brief=("Also said.",))
    run = Run(command="duramen toy", settings={}, versions={})
    sections = (table, Section("Silent", ("Not in a terminal.",)), other)
    return Report(kind="toy", title="Toy", run=run, sections=sections, conclusion="Found.", **more)


@pytest.mark.parametrize(
    ("room", "titles"),
    [(99, "abcd"), (67, "abd"), (50, "ab"), (33, "b"), (5, "b")],
)
def test_minor_columns_are_left_out_the_largest_number_first_and_the_last_of_these(room, titles):
    columns = [column("a", 1), column("b"), column("c", 2), column("d", 1)]
    shown, left_out = fitting(columns, room)
    assert "".join(column.title for column in shown) == titles
    assert "".join(left_out) == "".join(title for title in "abcd" if title not in titles)


def printed(report, capsys, monkeypatch, *, width, top=20):
    monkeypatch.setenv("COLUMNS", str(width))
    show(report, top, "out")
    return capsys.readouterr().out


def test_what_is_printed(capsys, monkeypatch):
    columns = [places(3), Column("name", ["a", "b", "c"], "name"), column("more", 1)]
    report = a_report(columns, subject=("Three rows.",), further={OF_GROUPS: {"g": [1]}})
    lines = printed(report, capsys, monkeypatch, width=30, top=2).splitlines()
    assert lines[:2] == ["Found.", "Three rows."]
    assert [line.split() for line in lines[5:7]] == [["1", "a", "x" * WIDE], ["2", "b", "x" * WIDE]]
    assert lines[8:11] == ["... and 3 more things", "Said.", "Also said."]
    assert " ".join(" ".join(lines[11:]).split()).startswith(
        "Wrote out: report.html, result.csv, result-groups.csv"
    )
    lines = printed(report, capsys, monkeypatch, width=20).splitlines()
    assert "x" * WIDE not in "".join(lines)
    assert "".join(lines).count("More columns in the results: more") == 1


def test_texts_of_the_page_are_printed_where_they_are_asked_for(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    report = a_report([column("a")])
    show(report, 20, "out", explain=True)
    explained = capsys.readouterr().out.splitlines()
    assert explained[explained.index("Silent") + 1] == "Not in a terminal."
    assert explained[-1].startswith("Wrote out: ")
    show(report, 20, "out")
    assert "Silent" not in capsys.readouterr().out
    assert report.explanations() == {"Silent": ("Not in a terminal.",)}


@pytest.mark.parametrize(("width", "longest"), [(60, 16), (22, 8), (19, 0)])
def test_bars_take_the_room_that_is_left(width, longest, capsys, monkeypatch):
    numbers = Column("v", ["2", "1", "0"], bars=np.array([2.0, 1.0, 0.0]))
    report = a_report([Column("name", ["a", "b", "c"], "name"), numbers])
    out = printed(report, capsys, monkeypatch, width=width)
    assert [line.count("█") for line in out.splitlines()[4:7]] == [longest, longest // 2, 0]


def test_a_page_a_terminal_and_a_notebook_show_the_same_cells(capsys, monkeypatch):
    cells = ["<b>", "two", "three"]
    report = a_report([places(3, "rank"), Column("name", cells, "name"), column("m", 1)])
    assert report.main.column("name") == tuple(cells)
    out = printed(report, capsys, monkeypatch, width=100)
    text, html = repr(report), report._repr_html_()
    assert all(cell in out and cell in text for cell in cells)
    assert "&lt;b&gt;" in html
    assert "x" * WIDE not in text  # a minor column
    assert text.splitlines()[0] == "Found."
    assert "... and 2 more" in text


@pytest.mark.parametrize("width", range(24, 60))
def test_no_line_of_a_terminal_ends_within_a_link(width, capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # a terminal
    text = "Strongest of 30: TP53 -> MDM2, E2F1 -> MYC, a -> b, NKX2-1 -- RB1."
    report = replace(a_report([column("a")]), conclusion=text)
    lines = printed(report, capsys, monkeypatch, width=width).splitlines()
    for end in ("->", "--"):
        assert not any(line.strip().startswith(end) or line.strip().endswith(end) for line in lines)
    assert " ".join(" ".join(lines).split()).startswith(text)


@pytest.mark.parametrize(
    ("total", "line"), [(3, ""), (4, "... and 1 more of 4 things"), (5, "... and 2 more things")]
)
def test_one_hidden_row_agrees_with_its_noun(total, line, capsys, monkeypatch):
    report = a_report([column("a")])
    table, *others = report.sections
    report = replace(report, sections=(replace(table, total=total), *others))
    lines = printed(report, capsys, monkeypatch, width=80).splitlines()
    assert [found for found in lines if "more" in found] == [line] * bool(line)
