"""Run of `duramen rank`: read the table, rank its features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from duramen.analyses.execution import Execution
from duramen.analyses.problem import noted
from duramen.analyses.ranking.groups import Groups
from duramen.analyses.ranking.request import Request
from duramen.cli.checkpoint import writable
from duramen.cli.clock import Clock
from duramen.cli.command import perform
from duramen.cli.console import notes
from duramen.cli.declaration import command_line
from duramen.cli.output import Outcome
from duramen.cli.rank.forests import make_forest
from duramen.cli.rank.groups import check_groups, read_groups
from duramen.cli.rank.options import COMMAND, Options
from duramen.cli.rank.request import requested
from duramen.cli.signals import show_words

if TYPE_CHECKING:
    from duramen.analyses.ranking.ranking import Ranking, RankingRequest


@dataclass(frozen=True)
class Asked:
    """Test and groups that the options ask for."""

    request: Request | None
    feature_groups: Groups | None  # from a file


@dataclass(frozen=True, eq=False)
class Done:
    """Ranking, with what was asked for, and how it was executed."""

    ranking: Ranking
    request: RankingRequest
    execution: Execution


def rank(options: Options) -> None:
    """Rank the columns of a table by their importance for a target.

    Example: duramen rank patients.csv --target diagnosis

    Grows a forest, tests which importances are larger than expected by chance, prints the ranking,
    and writes result.csv, result.parquet, run.json and report.html to the folder --out.
    """
    perform(COMMAND, options, _check, _find, _tell)


def _check(options: Options) -> Asked:
    """Check that the options go together; return the test and the groups that they ask for."""
    options.input.check()
    options.test.rows.check(options.input.drop)
    options.signals.check()
    options.resampling.check()
    file, checkpoint = options.signals.feature_groups, writable(options.work.checkpoint)
    feature_groups = None if file is None or options.signals.of_clusters else read_groups(file)
    resampled = bool(options.resampling.asked)
    request = requested(options.test, checkpoint, feature_groups, resampled=resampled)
    if options.signals.of_clusters and request is not None and request.test.takes("feature_groups"):
        raise ValueError(
            f"--feature-groups clusters and --significance {request.test.option} do not go "
            "together: the "
            "clusters follow from the ranking that would be tested. Hint: --feature-groups FILE"
        )
    return Asked(request, feature_groups)


def _find(options: Options, asked: Asked, clock: Clock) -> Done:
    """Read the table and rank its features."""
    from duramen.analyses.ranking.ranking import RankingRequest, rank_features

    work, quiet = options.work, options.output.quiet
    labels = options.test.rows.labels()
    problem = options.input.load(COMMAND, work.jobs, clock, labels, work.seed)
    more = options.growth.notes(problem.data.n_rows)
    problem = replace(problem, notes=(*problem.notes, *more))
    notes(problem.told, quiet)
    if asked.feature_groups is not None:
        check_groups(asked.feature_groups, problem.data.names, problem.target)
    execution = work.execution(quiet, clock)
    n_trees = options.growth.n_trees(problem.data.n_rows)
    estimator = make_forest(
        *(options.growth, problem.task, n_trees),
        seed=work.seed,
        jobs=work.jobs,
        verbose=bool(execution.verbose),
    )
    request = RankingRequest(
        options.growth.forest,
        options.measure,
        asked.request,
        options.resampling.request(),
        options.signals.request(),
        asked.feature_groups,
        options.signals.of_clusters,
        tuple(options.test.rows.notes()),
        options.positive,
    )
    return Done(rank_features(problem, estimator, request, execution), request, execution)


def _tell(options: Options, _: Asked, done: Done, clock: Clock) -> Outcome:
    """Return the table of results, the record and the report."""
    from duramen.analyses.ranking.ranking import report_of
    from duramen.cli.rank.show import show_ranking

    output, ranking = options.output, done.ranking
    problem, found = ranking.problem, ranking.found
    report = report_of(
        ranking,
        done.request,
        done.execution,
        command=command_line(
            COMMAND,
            options,
            **options.input.settled(problem),
            measure=found.names,
            trees=ranking.estimator.n_estimators,
        ),
        settings={
            **options.input.record(),
            **options.test.rows.record(),
            **options.signals.record(),
            **noted(problem.told),
        },
        notes=problem.told,
    )
    shown = partial(show_ranking, found, report.run, output.top, output.out)
    return Outcome.of(report, partial(_show, ranking, output.top, shown), ranking.stop)


def _show(ranking: Ranking, top: int, show: partial[None]) -> None:
    """Print what the clusters are, and the ranking."""
    from duramen.reports.measures import as_importances

    show_words(ranking.signals, as_importances(ranking.found.measures[0]), top)
    show()
