"""Commands and calls give what their records say.

``python -m tests.record --update CASE`` records a result anew and prints what changed; the commit
says why. Renamed options and columns go to ``renames.json``.
"""

from __future__ import annotations

import pytest
from tests.record.cases import cases
from tests.record.comparison import differences, recorded

MOST = 20  # differences that a failure shows


@pytest.mark.slow
@pytest.mark.parametrize("name", cases())
def test_result_is_as_recorded(name: str) -> None:
    case = cases()[name]
    changes = differences(case, case.outcome())
    more = f"... and {len(changes) - MOST} more" if len(changes) > MOST else ""
    assert not changes, "\n".join([name, *changes[:MOST], more])


def test_every_record_has_its_case() -> None:
    assert recorded() == set(cases())
