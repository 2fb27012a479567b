"""Words by which one of two labels is that of cases or events."""

from __future__ import annotations

_CASE_WORDS = (
    "1 1.0 yes true case cases ill sick diseased disease patient patients positive pos event "
    "occurred dead died death deceased fatal failed failure relapse relapsed recurrence recurred "
    "recurrent progression progressed affected infected infection malignant cancer tumor tumour "
    "carcinoma metastasis metastatic mutant mutated mut abnormal present presence spam fraud "
    "default treated treatment exposed ja oui krank malade"
)
_CONTROL_WORDS = (
    "0 0.0 -1 -1.0 no not non none false control controls ctrl healthy well normal negative neg "
    "alive living lived survived survivor censored censor cens lost withdrawn benign absent "
    "absence free never without wildtype wild wt ham legitimate placebo untreated unexposed "
    "vehicle reference nein gesund sain"
)
CASES, CONTROLS = frozenset(_CASE_WORDS.split()), frozenset(_CONTROL_WORDS.split())
CASE_LETTERS = {frozenset("ny"): "y", frozenset("ft"): "t", frozenset("bm"): "m"}
SIGNS = {"+": "positive", "-": "negative"}
