"""Test of the association of each feature with the target given all others."""

from __future__ import annotations

import math
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from duramen.data import ClassTarget, NumberTarget
from duramen.data.strata import centered_within
from duramen.importances.refit import data_for, for_task, leaves_rows_out, template_of
from duramen.jobs.replicates import Plan, replicate_seed, run_jobs
from duramen.results.adjustment import false_discovery
from duramen.results.result import warn_of
from duramen.results.significance import LEVEL, ConditionalSignificance
from duramen.significance.association import marginal_statistics
from duramen.significance.conditional_tests.cross_fitted import (
    MANY_FEATURES,
    OF_LINES,
    CrossFitting,
    Design,
    PartialRegression,
    folds_of,
    slope_p_values,
)
from duramen.significance.conditional_tests.inference import (
    Predictions,
    all_rows,
    combined,
    covariance_p_value,
    randomization_p_value,
    t_statistic,
    upper_tail,
)
from duramen.significance.conditional_tests.nodewise import Scores
from duramen.significance.conditional_tests.sampler import (
    Sampler,
    diagnosis,
    forest_for,
    misfit_notes,
)
from duramen.significance.hypotheses import HIERARCHICAL, Hypotheses
from duramen.significance.measured import Data, SignificanceTest
from duramen.support import checks
from duramen.support.arrays import Arrays, BoolArray, FloatArray, IntArray, RandomState, TableLike
from duramen.support.provenance import fingerprint, versions
from duramen.support.threads import one_blas_thread

if TYPE_CHECKING:
    from duramen.estimators.base import BaseForest

Method = Literal["covariance", "cpi", "crt", "loco"]
SamplerKind = Literal["auto", "gaussian", "forest"]

NULL = (
    "The feature is independent of the target given all other features: it tells nothing that "
    "they do not tell."
)
_FUNCTION = "conditional"
_NULL_STATISTICS = 200  # statistics of permuted targets that give the spread of one
_MOST_RUNS = 10
_LEAST_DRAWS, _DRAWS_A_TEST = 999, 20  # of randomization tests
_FEW_ROWS = 20.0  # rows' worth of variation of its own below which a feature is hardly tested
_HINT = ". Hint: test clusters of correlated features together, with feature_groups"
_OF_DIAGNOSIS = 2**31  # number of its seed
_LARGE_FRACTION = 0.2  # of an association that goes through another feature
_MOST_NAMED = 3
_PENALTY = 0.01  # of the regression of a feature on the direct ones


@one_blas_thread()
def conditional(
    estimator: Any,
    X: TableLike,
    y: ArrayLike | None = None,
    *,
    method: Method = "covariance",
    sampler: SamplerKind = "auto",
    feature_groups: Any = None,
    members: bool = False,
    n_folds: int = 5,
    n_draws: int = 6,
    strata: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    client: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    verbose: int = 0,
) -> ConditionalSignificance:
    r"""Test whether each feature is associated with the target given all others.

    A small p-value means that the feature is *strongly relevant*: the target depends on it given
    all others. A feature that only stands in for correlated ones has a uniform p-value, about.

    Rows are predicted by forests that were grown without their fold, each followed by a lasso of
    its out-of-bag residuals: f(x). With :math:`\bar f_j(x_{-j})` the mean prediction over draws of
    the j-th feature given the others, and :math:`r_j` the feature less its own prediction from the
    others, two covariances are 0 if the target does not depend on the feature given the others:

    .. math:: g_j = \frac{1}{n} \sum_i (y_i - \bar f_j)\, r_{ij}, \qquad
              h_j = \frac{1}{n} \sum_i (y_i - \bar f_j)\, (f - \bar f_j),

    the generalized covariance measure (Shah and Peters 2020), which sees what goes up or down with
    the feature, and the projected covariance measure (Lundborg et al. 2024), which sees whatever
    the forest has learned, such as interactions. The first is tested as the slope of a line, for
    normal scores of the feature and for its values; where the sizes of what is left of target and
    feature are correlated, with the standard error of Bell and McCaffrey (2002). The p-values are
    combined (Liu and Xie 2020), with equal weights, or with .95 for the first where lines predict
    better than the forests: least squares on the features that a lasso of all rows selects, of
    values or of scores, whichever predict better. Then what these leave takes the place of
    :math:`y - \bar f_j` and of r_j in g_j, with a weight of .95 for values or scores, and a lasso
    that did not see the feature. Each feature is predicted by a ridge regression on all others, or
    on the 5 or 20 most correlated with it, whichever leaves less of rows left out (Fan and Lv
    2008).

    Parameters
    ----------
    estimator : estimator of duramen
        Parameters of the forests; it is cloned, not changed.
    X : table of shape (n, p), or LearningSet
        The rows.
    y : array-like of shape (n,), optional
        Classes or numbers; None with a learning set.
    method : {"covariance", "cpi", "crt", "loco"}
        "covariance" is the test above. "cpi" (conditional predictive impact, Watson and Wright
        2021): whether the squared error of held-out rows is larger with the feature drawn, by a t
        test. "crt" (distilled conditional randomization test, Candes et al. 2018, Liu et al. 2022):
        the covariance of the feature with the rest of the target after a forest that was grown
        without it, among draws of the feature, which end when 100 of them reach it (Besag and
        Clifford 1991); the p-values are exact if the distribution of the feature is right. "loco"
        (leave one covariate out, Lei et al. 2018): whether the squared error is larger without the
        feature, by a t test. The last two grow forests for each feature.
    sampler : {"auto", "gaussian", "forest"}
        Distribution of each feature given the others. "gaussian": these regressions of normal
        scores, with residuals of other rows. "forest": forests of what these leave. "auto": a
        forest for those features whose residuals depend on squares of others; of more than 500
        features as "gaussian".
    feature_groups : mapping, labels, path, ..., optional
        Features that are tested together, as for :func:`duramen.io.feature_groups`: whether a
        group is associated with the target given the features outside it.
    members : bool
        Whether the features of the groups, and those in none, are tested too: first groups and
        features in none, then the members of the groups that are significant. The result has the
        groups of several features, then all features, with q-values of the hierarchical procedure
        of Yekutieli (2008): a bound of the false discovery rate over groups and features together,
        for independent p-values.
    n_folds : int
        Number of folds, at least 2.
    n_draws : int
        Draws of each feature, an even number.
    strata : array-like of shape (n,), optional
        Stratum of each row, a condition beside the other features: target and features are less
        their means in strata, and draws have values of the stratum.
    groups : array-like of shape (n,), optional
        Group of each row; rows of a group may depend on each other. They are predicted without each
        other, and standard errors and degrees of freedom are those of groups (CR2, Bell and
        McCaffrey 2002). Not with ``method="crt"``.
    random_state : int, RandomState, Generator or None
        Seed of all random numbers.
    n_jobs : int, optional
        Threads; the result does not depend on it.
    client : dask.distributed.Client, optional
        Cluster that does the work instead of threads; the result does not depend on it.
    checkpoint : path, optional
        File that keeps finished work: an interrupted run resumes from it, to the same bytes.
    verbose : int
        Above 0: a progress bar with the time left.

    Returns
    -------
    ConditionalSignificance
        `scores` are :math:`h_j`, by how much the mean squared error of the best prediction (of
        class probabilities, their sum) would grow without the feature; `p_values`, `q_values`
        (``adjustment="storey"`` of `Significance`), `verdicts()`, `explained_by`, `association`.
        `details` hold ``explained``, the fraction of the feature's variance that the others
        predict, and for "covariance" ``p_linear`` and ``p_any``, the p-values of both covariances.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, rows have weights, or are fewer than two a fold, or
        `method` is "crt" with groups.

    Warns
    -----
    UserWarning
        If features vary so little beside the others, or rows are so few, that hardly any effect
        could be fit; if others determine features exactly, whose p-values are then 1; or if draws
        of features do not fit, so that a forest tells them from the data
        (``metadata["diagnosis"]`` has the areas under its ROC curve).

    Notes
    -----
    Without an estimator, None, forests have 100 trees. Of survival, martingale residuals are
    predicted.

    The p-values are as good as the distributions of the features: they hold if these are right, or
    if the prediction of the target from the others is. The statistic of :math:`h_j` varies more
    than a t statistic, as rows of one fold are predicted from those of another and vice versa;
    it is divided by its standard deviation over permuted targets, for which as many forests again
    are grown as give 200 statistics, at most 10 times as many. A lasso of few rows, or groups,
    selects features by chance: where lines explain less than :math:`2 / \sqrt n` of the variance of
    rows left out, residual variances are at least their mean squared error.

    Not significant is not the same as telling nothing: of features that are nearly copies, none
    tells much beside the others. Test them together, by `feature_groups`.

    References
    ----------
    R. D. Shah, J. Peters (2020). The hardness of conditional independence testing and the
    generalised covariance measure. Annals of Statistics 48. J. Fan, J. Lv (2008). Sure independence
    screening for ultrahigh dimensional feature space. Journal of the Royal Statistical Society B
    70. A. Belloni, V. Chernozhukov, C. Hansen (2014). Inference on treatment effects after
    selection among high-dimensional controls. Review of Economic Studies 81. A. R. Lundborg, I.
    Kim, R. D. Shah, R. J. Samworth (2024). The projected covariance measure for assumption-lean
    variable significance testing. Annals of Statistics 52. D. S. Watson, M. N. Wright (2021).
    Testing conditional independence in supervised learning algorithms. Machine Learning 110. E.
    Candes, Y. Fan, L. Janson, J. Lv (2018). Panning for gold: model-X knockoffs for high
    dimensional controlled variable selection. Journal of the Royal Statistical Society B 80. M.
    Liu, E. Katsevich, L. Janson, A. Ramdas (2022). Fast and powerful conditional randomization
    testing via distillation. Biometrika 109. J. Lei, M. G'Sell, A. Rinaldo, R. J. Tibshirani, L.
    Wasserman (2018). Distribution-free predictive inference for regression. Journal of the American
    Statistical Association 113. J. Besag, P. Clifford (1991). Sequential Monte Carlo p-values.
    Biometrika 78. D. Yekutieli (2008). Hierarchical false discovery rate-controlling methodology.
    Journal of the American Statistical Association 103. R. M. Bell, D. F. McCaffrey (2002). Bias
    reduction in standard errors for linear regression with multi-stage samples. Survey Methodology
    28. R. J. A. Little (1988). Missing-data adjustments in large surveys. Journal of Business and
    Economic Statistics 6. G. Blanchard, E. Roquain (2009). Adaptive false discovery rate control
    under independence and dependence. Journal of Machine Learning Research 10.

    Examples
    --------
    >>> import numpy as np
    >>> import duramen as dm
    >>> random = np.random.default_rng(0)
    >>> X = random.normal(size=(300, 4))
    >>> X[:, 1] = X[:, 0] + 0.5 * X[:, 1]  # x1 stands in for x0
    >>> y = X[:, 0] + random.normal(size=300)
    >>> result = dm.significance.conditional(None, X, y, random_state=0)
    >>> result.verdicts()[:2]
    ('direct', 'shared with x0')
    """
    name = _FUNCTION
    checks.check_choice(name, "method", method, get_args(Method))
    checks.check_choice(name, "sampler", sampler, get_args(SamplerKind))
    checks.check_integer(name, "n_folds", n_folds, 2)
    if checks.check_integer(name, "n_draws", n_draws, 2) % 2:
        raise ValueError(f"{name}: n_draws must be even, got {n_draws}.")
    members = checks.check_flag(name, "members", members)
    plan = Plan.checked(name, n_jobs, checkpoint, verbose, client)
    data, template = prepared(estimator, X, y, strata, groups, n_folds, name)
    rows, units = data.exchangeability, data.exchangeability.groups
    if method == "crt" and units is not None:
        raise ValueError(
            f'{name}: method must not be "crt" with groups, since the rows of a draw are '
            'independent and those of a group are not. Hint: method="covariance" takes the '
            "standard error of groups."
        )
    tested = Hypotheses.of(data.names, feature_groups, members, name)
    hypotheses, seed = tested.features, checks.draw_seed(random_state)
    if sampler == "auto" and data.n_columns > MANY_FEATURES:
        sampler = "gaussian"
    fitted = Sampler.of(
        data.table,
        sampler,
        replicate_seed(seed, 1),
        strata=rows.strata,
        groups=units,
        n_threads=plan.threads_within,
    )
    explained = fitted.explained(hypotheses)
    varies = np.array([fitted.scores.widths[of].any() for of in hypotheses])
    determined = np.array([fitted.determined(of) for of in hypotheses])
    can_tell = varies & ~determined
    n_units, what = (data.n_rows, "rows") if units is None else (rows.n_units, "groups of rows")
    notes = limits(explained[~determined], varies & determined, n_units, tested, what)
    warn_of(name, notes)

    # Predictions of held-out rows: with features drawn, also of permuted targets, or without them.
    draws = method in ("covariance", "cpi")
    fitting = CrossFitting(
        template,
        data,
        Design.of(data.table, fitted.scores),
        hypotheses,
        np.concatenate([fitted.donors(of.tolist(), n_draws) for of in hypotheses])
        if draws
        else np.empty((0, 0, 0), dtype=np.uint32),
        folds_of(data, n_folds, np.random.default_rng(replicate_seed(seed, 0))),
        leaves_rows_out(template),
    )
    orders: list[IntArray | None] = [None]
    if draws:
        for b in range(min(_MOST_RUNS, math.ceil(_NULL_STATISTICS / len(hypotheses)))):
            random = np.random.default_rng(replicate_seed(seed, 2 + b))
            orders.append(rows.permutation(random, data.target.values))
        n_parts = len(orders)
    else:
        fittings = [*(fitting.without(features) for features in hypotheses), fitting]
        n_parts = len(fittings)

    def task(number: int, seed_b: int) -> Arrays:
        part, fold = divmod(number, n_folds)
        if draws:
            return fitting.fold(fold, seed_b, orders[part])
        return fittings[part].fold(fold, replicate_seed(seed, 2 + fold))

    identity = {
        "method": name,
        "test": method,
        "estimator": repr(template),
        "sampler": sampler,
        "hypotheses": [features.tolist() for features in hypotheses],
        "n_folds": n_folds,
        "n_draws": n_draws,
        "draws": fingerprint(fitting.donors),
        "data": data.fingerprint,
        "versions": versions(),
        **rows.identity(),
    }
    jobs = run_jobs(
        task,
        n_parts * n_folds,
        seed=seed,
        identity=identity,
        plan=plan,
        function=name,
        unit="forest",
    )
    folds = [jobs[first : first + n_folds] for first in range(0, len(jobs), n_folds)]
    response = fitting.response
    details: dict[str, FloatArray] = {"explained": explained}
    p_values = np.ones(len(hypotheses))
    if draws:  # all runs but the first are of permuted targets
        lines = PartialRegression.of(fitting, fitted.scores) if method == "covariance" else None
        statistics = np.empty((len(orders), len(hypotheses)))
        for run, (part, order) in enumerate(zip(folds, orders, strict=True)):
            predicted, replaced = all_rows(part, "predicted"), all_rows(part, "replaced", 2)
            of_run = response if order is None else response[order]
            predictions = Predictions(of_run, predicted, replaced, units)
            for g in range(len(hypotheses)):
                values = predictions.added(g, impact=lines is None)
                statistics[run, g] = t_statistic(values, units)
            if not run:
                observed = predictions
        scores = np.array([observed.added(g).mean() for g in range(len(hypotheses))])
        null = statistics[1:][statistics[1:] != 0.0]
        spread = max(1.0, float(np.sqrt(np.square(null).mean()))) if len(null) else 1.0
        p_values = upper_tail(statistics[0] / spread, n_units)
        if lines is not None:
            by_line = lines if lines.error < observed.error else None
            linear = slope_p_values(fitted, fitting.design, hypotheses, observed, by_line)
            details |= {"p_linear": linear, "p_any": p_values}
            p_values = combined(linear, p_values, 0.5 if by_line is None else OF_LINES)
    else:  # forests that were grown without features, and one with all
        rests = [response - all_rows(part, "predicted") for part in folds]
        losses = np.array([np.square(rest).sum(axis=1) for rest in rests])
        worse = losses[:-1] - losses[-1]
        scores = worse.mean(axis=1)
        if method == "loco":
            of_losses = np.array([t_statistic(values, units) for values in worse])
            p_values = upper_tail(of_losses, n_units)
        else:
            most = max(_LEAST_DRAWS, _DRAWS_A_TEST * len(hypotheses))
            for g, features in enumerate(of.tolist() for of in hypotheses):
                drawn = partial(fitted.drawn_scores, features)
                own = fitted.scores.of_features(features)
                p_values[g] = randomization_p_value(rests[g], own, drawn, most)

    p_values = np.where(can_tell, p_values, 1.0)
    q_values, adjustment = tested.q_values(p_values), HIERARCHICAL
    if q_values is None:
        adjustment, q_values = "storey", false_discovery(p_values, "storey", len(p_values))
    association, explained_by = associations(data, fitted, tested, q_values)
    fit = None
    if method != "loco":
        fit = diagnosis(
            fitted,
            {tested.names[g]: hypotheses[g] for g in np.flatnonzero(can_tell).tolist()},
            p_values[can_tell],
            replicate_seed(seed, _OF_DIAGNOSIS),
            units=units,
            n_threads=plan.threads_within,
        )
    misfit = misfit_notes(fit)
    warn_of(name, misfit)
    return ConditionalSignificance(
        names=tested.names,
        scores=np.where(can_tell, scores, 0.0),
        p_values=p_values,
        method=name,
        null=NULL + rows.clause,
        unit="squared error",
        q_values=q_values,
        adjustment=adjustment,
        details=details,
        metadata={
            **identity,
            "seed": seed,
            **({} if tested.parents is None else {"parents": tested.parents.tolist()}),
            **({} if fit is None else {"diagnosis": fit}),
        },
        notes=(*notes, *misfit),
        association=association,
        explained_by=explained_by,
    )


def prepared(
    estimator: Any, X: Any, y: Any, strata: Any, groups: Any, n_folds: int, function: str
) -> tuple[Data, BaseForest]:
    """Return the learning set, with numbers in place of survival, and the forests' parameters."""
    from duramen.data.learning_sets import learning_set_of

    if estimator is None:
        data = learning_set_of(X, y, function, strata=strata, groups=groups).in_memory()
    else:
        template = template_of(estimator, function)
        data = data_for(template, X, y, function, strata=strata, groups=groups)
    check_rows(data, n_folds, function)
    if not isinstance(data.target, ClassTarget | NumberTarget):
        data = data.with_target(NumberTarget.encode(data.target.association_scores()[:, 0]))
    if estimator is None:
        template = forest_for(data, n_estimators=100)
    else:
        template = for_task(template, data.target, function)
    if leaves_rows_out(template):
        template.set_params(oob_score=True)
    template.set_params(n_jobs=1)
    return data, template


def check_rows(data: Data, n_folds: int = 5, owner: str = _FUNCTION) -> None:
    """Check that the test can handle the rows.

    Raises
    ------
    ValueError
        If they have weights, or are fewer than two a fold.
    """
    if data.weights is not None:
        raise ValueError(
            f"{owner}: sample_weight must be None, since rows count alike in the p-values. Hint: "
            "give no weights, or draw the rows with probabilities that are proportional to them."
        )
    units = data.exchangeability.groups
    count, what = (data.n_rows, "rows") if units is None else (int(units.max()) + 1, "groups")
    if count < 2 * n_folds:
        raise ValueError(
            f"{owner}: there must be at least {2 * n_folds} {what}, two for each of {n_folds} "
            f"folds, got {count}."
        )


def limits(
    explained: FloatArray, determined: BoolArray, n_rows: int, hypotheses: Hypotheses, rows: str
) -> list[str]:
    """Return notes on determined features, on features with little variance, and on few rows."""
    notes, n_hypotheses = list[str](), len(hypotheses)
    several = any(len(features) > 1 for features in hypotheses.features)
    what = "groups and features" if several else "features"
    if determined.any():
        names = [hypotheses.names[g] for g in np.flatnonzero(determined)[:_MOST_NAMED]]
        more = ", ..." if determined.sum() > len(names) else ""
        notes.append(
            f"{determined.sum():,} of {n_hypotheses:,} {what} are determined by others, as a copy "
            "is, or a column of 0 and 1 for each value of a category, and cannot be direct: "
            f"{', '.join(names)}{more}. Hint: give a category as one column, leave copies out"
        )
    few = int(np.count_nonzero((1.0 - explained) * n_rows < _FEW_ROWS))
    if few:
        begin = f"{few:,} of {n_hypotheses:,} {what} vary"
        if few == n_hypotheses:
            begin = f"the {rows} are too few for a verdict: all {few:,} {what} vary"
        notes.append(
            f"{begin} so little given the others that {n_rows:,} {rows} have the information of "
            f"fewer than {_FEW_ROWS:g}: only a very strong direct effect can be detected{_HINT}"
        )
    return notes


def associations(
    data: Data, fitted: Sampler, hypotheses: Hypotheses, q_values: FloatArray
) -> tuple[FloatArray, tuple[tuple[str, ...], ...]]:
    r"""Return q-values of association, and the features that explain each association.

    Each feature is predicted from the direct ones by a ridge regression, or from all others where
    none is direct, :math:`\hat z_j = \sum_k b_{jk} z_k`. The parts of its covariance with the
    target are those through each of them, :math:`b_{jk} \, cov(z_k, y)`.
    """
    from scipy.special import ndtr

    identity, scores = np.arange(data.n_rows), fitted.scores
    if data.exchangeability.groups is None:
        of_features = 1.0 - ndtr(marginal_statistics(data, lambda b: identity, 1)[0])
    else:
        of_features = associations_of_groups(data, scores)
    of_features[scores.widths == 0] = 1.0
    least = np.array(
        [min(1.0, len(members) * of_features[members].min()) for members in hypotheses.features]
    )
    single = np.isin(np.arange(len(hypotheses)), hypotheses.single)
    associated = np.empty(len(hypotheses))
    for part in (single, ~single):
        associated[part] = false_discovery(least[part], "bh", int(part.sum()))
    p, owners = len(scores.widths), np.repeat(np.arange(len(scores.widths)), scores.widths)
    direct = [int(hypotheses.features[g][0]) for g in np.flatnonzero(single & (q_values <= LEVEL))]
    response = data.target.responses()
    covariances = scores.values.T @ (response - response.mean(axis=0)) / data.n_rows
    chosen = np.flatnonzero(np.isin(owners, direct))
    coefficients = None
    if len(chosen):
        predictors = scores.values[:, chosen]
        gram = predictors.T @ predictors / data.n_rows + _PENALTY * np.eye(len(chosen))
        coefficients = np.linalg.solve(gram, predictors.T @ scores.values / data.n_rows)
    names: list[tuple[str, ...]] = [()] * len(hypotheses)
    for g in np.flatnonzero(single).tolist():
        j = int(hypotheses.features[g][0])
        own = covariances[scores.first[j]] if scores.widths[j] else np.zeros(response.shape[1])
        size, parts = float(own @ own), np.zeros(len(owners))
        if size > 0.0:
            through = covariances @ own / size
            if coefficients is None:
                parts = fitted.nodewise.weights(j) * through
            else:
                parts[chosen] = coefficients[:, scores.first[j]] * through[chosen]
        of_others = np.bincount(owners, parts, minlength=p)
        of_others[j] = 0.0
        largest = np.argsort(-of_others, kind="stable")[:_MOST_NAMED]
        names[g] = tuple(data.names[k] for k in largest if of_others[k] >= _LARGE_FRACTION)
    return associated, tuple(names)


def associations_of_groups(data: Data, scores: Scores) -> FloatArray:
    """Return p-values of association where rows of a group may depend on each other, shape (p,).

    Those of covariances of scores within strata, with standard errors of groups.
    """
    strata, units = data.exchangeability.strata, data.exchangeability.groups
    response = centered_within(data.target.association_scores(), strata)
    n_fitted, p_values = 0 if strata is None else int(strata.max()), np.ones(data.n_columns)
    for j in np.flatnonzero(scores.widths).tolist():
        own = scores.values[:, scores.columns(j)]
        p_values[j] = covariance_p_value(response, own, units, n_fitted)
    return p_values


CONDITIONAL = SignificanceTest(
    "conditional",
    conditional,
    "conditional test",
    "A small p-value means that the target depends on the feature given all others. The p-values "
    "hold if the distribution of the feature given the others is right, or the prediction of the "
    "target from the others is. Of the features with a q up to {level:g}, a fraction of at most "
    "{level:g} is expected to tell nothing beside the others, if the p-values are nearly "
    "independent. Of nearly equal features none tells much beside the others.",
    reference=(
        "A. R. Lundborg, I. Kim, R. D. Shah, R. J. Samworth (2024). The projected covariance "
        "measure for assumption-lean variable significance testing. Annals of Statistics 52. R. D. "
        "Shah, J. Peters (2020). The hardness of conditional independence testing and the "
        "generalised covariance measure. Annals of Statistics 48."
    ),
    repeats="",
    suits=lambda measure: False,
    of_rows=True,
    most_trees=lambda n: 100,
    check=check_rows,
)
