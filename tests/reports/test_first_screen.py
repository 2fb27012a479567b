"""Questions of a clinician, and the words that answer them on the first screen of three reports.

The first screen is the head of the page: title, conclusion and the few figures below it.
"""

from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from tests.record.inputs import columns, patients
from tests.reports.test_reports import Page

import duramen as dm
from duramen.reports import render

SMALL = {"n_estimators": 50, "n_permutations": 39, "n_jobs": 1}


def first_screen(report):
    with patch("duramen.reports.report.svg", lambda *_: "<svg/>"):  # figures lie below
        page = render(report)
    return Page(page[: page.index("</header>")]).words


@pytest.fixture(scope="module")
def screens():
    """First screens of a ranking of two classes, of one of survival times, and of a context."""
    ill = dm.rank(dm.read(pd.DataFrame(columns("ill")), "ill"), **SMALL)
    table = pd.DataFrame(columns("months", "died"))
    survival = dm.rank(dm.read(table, "months", event="died"), **SMALL)
    values = np.random.default_rng(0).integers(0, 3, (200, 3))
    site = np.where(np.arange(200) % 2, "A", "B")
    told = np.where(site == "A", values[:, 0], values[:, 1])
    y = np.where(told > 0, "ill", "well")
    data = dm.read(pd.DataFrame(values, columns=["marker", "dose", "age"]).assign(ill=y), "ill")
    by_site = dm.context(data, context={"site": site}, n_estimators=50, n_permutations=199)
    return {
        name: first_screen(report)
        for name, report in {"classes": ill, "survival": survival, "context": by_site}.items()
    }


N_ILL, N_DIED = patients()["ill"].count("ill"), sum(patients()["died"])
QUESTIONS = {
    "classes": {
        "How many features matter?": "3 of 7 features are reliably associated with ill",
        "Which matter most?": "Strongest: dose",
        "In which direction?": "dose (higher in ill)",
        "Can this be a false alarm?": "the chance that even one of them is a false alarm is at "
        "most 5%",
        "Are others worth another look?": "candidates 0",
        "How well do they predict new patients?": "The forest classifies 87% of the rows that it "
        "had not seen correctly",
        "Is that better than guessing?": "always guessing the most frequent class gives 67%",
        "How many patients were there?": "rows 60",
        "How many of them are ill?": f"ill {N_ILL}",
        "How many features were looked at?": "features 7",
    },
    "survival": {
        "How many features matter?": "2 of 7 features are reliably associated with months",
        "Which matter most?": "Strongest: dose, marker",
        "In which direction?": "both falling with the risk",
        "Can this be a false alarm?": "the chance that even one of them is a false alarm is at "
        "most 5%",
        "Are others worth another look?": "candidates 0",
        "How well do they predict new patients?": "Of two rows that it had not seen, the forest "
        "tells in 80% of all cases which has its event first",
        "Is that better than guessing?": "guessing gives 50%",
        "How many patients were there?": "rows 60",
        "How many of them had the event?": f"events {N_DIED}",
        "How many features were looked at?": "features 7",
    },
    "context": {
        "Does any feature matter differently?": "The importance of 2 of 3 features depends on site",
        "Where does marker matter more?": "marker matters more where site is A than overall (q = ",
        "Where does dose matter more?": "dose matters more where site is B than overall (q = ",
        "Can this be a false alarm?": "Of findings like these, about 5% may be false alarms",
        "Is the site itself associated with the disease?": "p of site itself",
        "How many patients were there?": "rows 200",
        "How many are from each site?": "rows by site A 100, B 100",
        "What was to be explained?": "Importances of the features for ill",
        "How many features were looked at?": "features 3",
        "How many permutations is the test of?": "permutations 199",
    },
}


@pytest.mark.parametrize("report", QUESTIONS)
def test_ten_questions_are_answered_on_the_first_screen(report, screens):
    assert len(QUESTIONS[report]) == 10
    open_questions = [q for q, answer in QUESTIONS[report].items() if answer not in screens[report]]
    assert open_questions == [], screens[report]
