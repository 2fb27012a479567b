"""Progress bars, and progress without a bar."""

import io
from contextlib import redirect_stderr

import numpy as np

from duramen.analyses.execution import Execution
from duramen.jobs.progress import estimates, progress_bar, titled
from duramen.jobs.replicates import Plan, run_replicates


def test_long_work_without_a_bar_is_estimated_once(monkeypatch):
    clock, said = [0.0], []
    monkeypatch.setattr("duramen.jobs.progress.time.monotonic", lambda: clock[0])
    with estimates(said.append), progress_bar(1000, "genie3", 0, done=10) as report:
        for done, seconds in ((11, 4.0), (12, 8.0), (13, 12.0)):
            clock[0] = seconds
            report(done)
        with progress_bar(1000, "mda", 0) as inner:
            assert inner is None
    assert said == ["genie3: 10 of 1,000 kept", "genie3: 1.2% done after 8 s, about 1.1 h left"]
    with estimates(said.append), progress_bar(2, "short", 0) as report:
        clock[0] += 6.0
        report(1)
    with estimates(said.append), estimates(None), progress_bar(9, "told", 0) as report:
        assert report is None
    assert len(said) == 2


def bars(work):
    """Return the lines that bars write, each as it is at the end."""
    shown = io.StringIO()
    with redirect_stderr(shown):
        work()
    return [line for line in shown.getvalue().replace("\r", "\n").splitlines() if line.strip()]


def test_bars_of_a_step_have_its_title_and_vanish():
    def work():
        with Execution().step("measure mdi_oob"), progress_bar(3, "Forest", 1) as report:
            for done in (1, 2, 3):
                report(done)

    lines = bars(work)
    assert all(line.startswith("measure mdi-oob: ") for line in lines)
    shown = io.StringIO()
    with redirect_stderr(shown):
        work()
    assert shown.getvalue().endswith("\r")  # the line is cleared

    def alone():
        with progress_bar(3, "Forest", 1) as report:
            report(1)

    assert bars(alone)[-1].startswith("Forest: 100%")


def test_what_a_checkpoint_keeps_is_said_and_a_finished_run_shows_no_bar(tmp_path):
    def task(b, seed):
        if b == limit:
            raise KeyboardInterrupt
        return np.array([float(b)])

    def run(title="test"):
        plan = Plan(1, tmp_path / "kept.npz", 1)
        with titled(title):
            return run_replicates(
                task, 10, 1, seed=0, identity={"method": "toy"}, plan=plan, function="toy"
            )

    limit = 4
    try:
        bars(run)
    except KeyboardInterrupt:
        limit = None
    lines = bars(run)
    assert lines[0].startswith("test, 4 of 10 kept:  40%")
    assert not any("toy" in line for line in lines)
    assert bars(run) == []
