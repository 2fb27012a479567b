"""Progress without a bar."""

from duramen.jobs.progress import estimates, stepwise_bar


def test_long_work_without_a_bar_is_estimated_once(monkeypatch):
    clock, said = [0.0], []
    monkeypatch.setattr("duramen.jobs.progress.time.monotonic", lambda: clock[0])
    with estimates(said.append), stepwise_bar(1000, "genie3", "target", 0, done=10) as advance:
        for seconds in (4.0, 8.0, 12.0):
            clock[0] = seconds
            advance()
        with stepwise_bar(1000, "mda", "tree", 0) as inner:
            clock[0] = 100.0
            inner()
    assert said == ["genie3: 1.2% done after 8 s, about 1.1 h left"]
    with estimates(said.append), stepwise_bar(2, "short", "forest", 0) as advance:
        clock[0] += 6.0
        advance()
    with estimates(said.append), estimates(None), stepwise_bar(9, "told", "job", 0) as advance:
        clock[0] += 60.0
        advance()
    assert len(said) == 1
