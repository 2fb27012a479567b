"""The exact theory: importances, relevance, convergence, planning, small samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.contracts import extracts
from tests.contracts.cases.distributions import empirical
from tests.contracts.inputs import jobs, numbers
from tests.contracts.registry import case

from duramen import theory
from duramen.theory import examples
from duramen.theory.dependence import (
    ContextDependence,
    ContextWitness,
    Counterexample,
    Faithfulness,
    Properties,
    Redundancy,
    Relevance,
    all_relevant,
    conditioning_order,
    d_separated,
    degree_of_redundancy,
    faithfulness,
    feature_context_dependence,
    feature_relevance,
    minimal_optimal,
    strong_informations,
    strongly_relevant,
)
from duramen.theory.subspaces.simulation import conditionings_of

POPULATION = theory.population_importances


@case("population_importances/digits", make=examples.digits7)
@case("population_importances/rows")
@case("population_importances/gini", criterion="gini")
@case("population_importances/variance", number=True, criterion="variance")
@case("population_importances/depth", max_depth=2)
@case("population_importances/K = 2", max_features=2)
@case("population_importances/subspace", subspace=2)
@case("population_importances/ordered", splits="ordered")
@case("population_importances/ordered, best", splits="ordered", cut="best", max_features=2)
@case("population_importances/one-vs-rest", splits="one-vs-rest")
@case("population_importances/any", splits="any")
@case(
    "population_importances/limits of nodes",
    splits="ordered",
    min_samples_split=0.2,
    min_impurity_decrease=0.01,
)
def _population(make: Any = None, number: bool = False, **options: Any) -> Any:
    dist = make() if make else empirical(y=numbers().round(0) if number else None)
    jobs_too = {} if options.get("max_features") or options.get("splits") else {"n_jobs": jobs()}
    return extracts.importances(POPULATION(dist, **options, **jobs_too))


@case("tree_importances/uniform cuts")
def _trees_of_numbers() -> Any:
    dist = theory.FiniteDistribution.from_table(
        [[0.0, 1.5], [1.0, 0.5], [4.0, 3.0], [4.5, 0.0], [6.0, 1.0]], [0, 1, 1, 0, 1]
    )
    options = {"max_features": 2, "splits": "ordered", "cut": "uniform"}
    return theory.population.tree_importances(dist, **options)


@case("tree_importances")
@case("tree_importances/ordered", splits="ordered", max_depth=3)
def _trees(**options: Any) -> Any:
    return theory.population.tree_importances(empirical(), max_features=2, **options)


@case("population_mda")
@case("population_mda/ensemble", votes="ensemble", max_features=2)
@case("population_mda/predictor", votes="predictor", max_depth=2)
@case("population_mda/given", given="associated", unseen="node")
def _population_mda(**options: Any) -> Any:
    return extracts.importances(theory.population_mda(empirical(), **options))


@case("last_level_importances")
@case("last_level_importances/gini", criterion="gini")
def _last(**options: Any) -> Any:
    return extracts.importances(theory.population.last_level_importances(empirical(), **options))


@case("population_local_mdi")
@case("population_local_mdi/gini", criterion="gini")
@case("population_local_mdi/class", of="class")
def _population_local(**options: Any) -> Any:
    result = theory.population_local_mdi(empirical(), **options)
    return result.values, result.names, result.weights, result.start, result.unit


@case("shapley_effects")
@case("shapley_effects/variance", number=True, criterion="variance")
def _shapley(number: bool = False, **options: Any) -> Any:
    dist = empirical(y=numbers().round(0) if number else None)
    return extracts.importances(theory.shapley_effects(dist, n_jobs=jobs(), **options))


@case("population_interactions")
@case("population_interactions/gini", criterion="gini")
def _population_pairs(**options: Any) -> Any:
    result = theory.population_interactions(empirical(), n_jobs=jobs(), **options)
    return result.values, result.names, result.unit


@case("irrelevant_importances", count=3)
@case("irrelevant_importances/depth", count=2, max_depth=2)
def _irrelevant(**options: Any) -> Any:
    result = theory.population.irrelevant_importances(empirical(), n_jobs=jobs(), **options)
    return extracts.importances(result)


@case("redundant_importances", copies=2)
@case("redundant_importances/depth", max_depth=2, criterion="gini")
def _redundant(**options: Any) -> Any:
    result = theory.population.redundant_importances(empirical(), 0, n_jobs=jobs(), **options)
    return extracts.importances(result)


@case("conditioning_terms", theory.population.ConditioningTerms)
@case("conditioning_terms/depth", max_depth=2)
def _terms(**options: Any) -> Any:
    result = theory.population.conditioning_terms(empirical(), 0, **options)
    return (result.values, result.weights, result.contributions, result.sizes, result.sets)


@case("lattice_cost", theory.population.LatticeCost)
def _cost() -> Any:
    result = theory.population.lattice_cost(examples.digits7(), n_jobs=1)
    return (result.n_subsets, len(result.by_size), result.seconds > 0)


@case("additive_mda")
@case("additive_mda/feature groups", feature_groups={"both": [0, 1], "last": ["z"]})
def _additive(**options: Any) -> Any:
    covariance = [[1.0, -0.5, 0.1], [-0.5, 2.0, 0.3], [0.1, 0.3, 1.5]]
    return extracts.importances(
        theory.population.additive_mda(covariance, names=["x", "y", "z"], **options)
    )


@case("total_sobol_indices")
@case("total_sobol_indices/feature groups", feature_groups={"two": [0, 2], "one": [1]})
def _total_sobol_indices(**options: Any) -> Any:
    dist = empirical()
    return extracts.importances(theory.total_sobol_indices(dist, criterion="gini", **options))


@case("gaussian_total_sobol_indices")
def _gaussian_total_sobol_indices() -> Any:
    covariance = [[1.0, 0.6, 0.0], [0.6, 1.0, 0.2], [0.0, 0.2, 2.0]]
    compute = theory.population.gaussian_total_sobol_indices
    return extracts.importances(compute(covariance, [0.5, 0.3, 0.1], 2.0))


@case("gaussian_mda")
@case("gaussian_mda/feature groups", feature_groups={"both": [0, 1]})
def _gaussian(**options: Any) -> Any:
    covariance = [[1.0, 0.6, 0.1], [0.6, 2.0, 0.3], [0.1, 0.3, 1.5]]
    return extracts.importances(
        theory.population.gaussian_mda(covariance, [0.5, 0.3, 0.1], **options)
    )


@case("block_mda")
def _block() -> Any:
    return [theory.population.block_mda(c, q, 0.5) for c, q in ((0.6, 3), (0.0, 1), (-0.2, 4))]


# --- relevance ----------------------------------------------------------------------------------


@case("feature_relevance", Relevance)
@case("feature_relevance/of digits", make=examples.digits7)
@case("feature_relevance/level", level=0.2)
@case("feature_relevance/degree", make=examples.clique, max_degree=1)
def _relevance(make: Any = empirical, **options: Any) -> Any:
    return [
        (
            feature.name,
            str(feature.relevance),
            feature.degree,
            [list(names) for names in feature.conditionings],
            feature.marginal,
            feature.strong_information,
            feature.largest_information,
            feature.searched_degree,
        )
        for feature in feature_relevance(make(), **options)
    ]


@case("relevance")
def _relevance_frame() -> Any:
    result = theory.relevance(empirical())
    return [[str(value) for value in result[name].tolist()][:4] for name in result.columns[:3]]


@case("all_relevant, strongly_relevant")
def _relevant() -> Any:
    makers = (empirical, examples.digits7, examples.xor, examples.problem_1, examples.noisy_copy)
    dists = [make() for make in makers]
    return [
        (
            strong_informations(dist),
            all_relevant(dist),
            all_relevant(dist, level=0.3),
            strongly_relevant(dist),
        )
        for dist in dists
    ]


@case("markov_boundaries")
def _boundaries() -> Any:
    dists = (empirical(), examples.digits7(), examples.noisy_copy(), examples.correlated_xor())
    return [
        (sorted(theory.markov_boundaries(dist)), sorted(minimal_optimal(dist))) for dist in dists
    ]


@case("redundancy", Redundancy)
def _redundancy() -> Any:
    results = [theory.redundancy(result) for result in (empirical(), examples.noisy_copy())]
    return [
        (
            result.degree,
            result.relevant,
            result.total,
            result.determined,
            result.partial,
            result.lowest,
            result.highest,
            dict(result.shields),
        )
        for result in results
    ]


@case("degree_of_redundancy")
def _degree() -> Any:
    dist = empirical()
    return [degree_of_redundancy(dist, 0, 1), degree_of_redundancy(dist, 0, 1, [2])]


@case("bayes_model", theory.distributions.BayesModel)
@case("bayes_model/squared", loss="squared", features=[0, 1])
@case("bayes_model/absolute", loss="absolute", features=[0, 1])
def _bayes_model(**options: Any) -> Any:
    model = theory.distributions.bayes_model(empirical(), **options)
    return [model.predictions.tolist(), model.losses, model.residual_error]


@case("faithfulness", Faithfulness)
def _faithfulness() -> Any:
    parents = {"x0": ["x1"], "Y": ["x0", "x2"]}
    result = faithfulness(empirical(), parents)
    apart = [d_separated(parents, "x1", "Y", options) for options in ((), ("x0",))]
    return [result.dependent, result.independent, apart]


@case("conditioning_order")
def _conditioning_order() -> Any:
    return [
        conditioning_order(make(3), "X3", ["X2", "X1"])
        for make in (examples.chain, examples.clique)
    ]


@case("total_correlation")
def _total_correlation() -> Any:
    dist = empirical()
    return [dist.total_correlation(0, 1, "Y", given=some) for some in ((), 2)]


@case("properties", Properties, Counterexample)
def _properties() -> Any:
    makers = (examples.xor, examples.noisy_copy, examples.example_5_1, examples.problem_1)
    results = [theory.properties(make()) for make in makers]
    return [
        (
            result.strictly_positive,
            result.positive_features,
            result.intersection,
            result.composition,
            result.weak_transitivity,
            result.P,
            result.PC,
            result.PCWT,
            [(x.a, x.c, x.d, x.given) for x in result.counterexamples.values()],
        )
        for result in results
    ]


# --- contexts -----------------------------------------------------------------------------------


@case("population_context_importances")
@case("population_context_importances/K = 2", max_features=2)
@case("population_context_importances/zero", empty="zero", criterion="gini", max_depth=2)
def _context(**options: Any) -> Any:
    makers = (lambda: empirical(context=True), examples.problem_1)
    return [
        extracts.contexts(theory.population_context_importances(make(), n_jobs=jobs(), **options))
        for make in makers
    ]


@case("feature_context_dependence", ContextDependence, ContextWitness)
def _dependence() -> Any:
    return [
        (
            feature.name,
            (feature.eq_6_1, feature.eq_6_3, feature.eq_6_4, feature.eq_6_5, feature.eq_6_6),
            [str(change) for change in feature.changes],
            feature.weakly_sensitive,
            feature.strongly_sensitive,
            feature.searched_degree,
            None if feature.witness is None else (feature.witness.overall, feature.witness.within),
        )
        for make in (examples.problem_1, examples.problem_2, examples.example_6_1)
        for feature in feature_context_dependence(make())
    ]


@case("context_dependence")
def _dependence_frame() -> Any:
    result = theory.context_dependence(examples.problem_1())
    return [[str(value) for value in result[name].tolist()] for name in result.columns[:6]]


# --- convergence and planning ---------------------------------------------------------------------

SEARCH = {"n_features": 40, "subspace": 10, "n_relevant": 3}


@case("convergence/chain", scenario="chain")
@case("convergence/clique", scenario="clique")
@case("convergence/marginal", scenario="marginal")
def _convergence(scenario: str) -> Any:
    return [
        (
            theory.expected_trees(scenario, **SEARCH, keep=keep),
            theory.subspaces.trees_to_find_all(scenario, **SEARCH, keep=keep, risk=0.1),
            theory.subspaces.transition_matrix(scenario, **SEARCH, keep=keep),
            theory.found_curve(scenario, **SEARCH, keep=keep, n_trees=5),
            theory.subspaces.found_distribution(scenario, **SEARCH, keep=keep, n_trees=2),
        )
        for keep in (0.0, 0.5, 1.0)
    ]


@case("coverage")
def _coverage() -> Any:
    return [
        theory.subspaces.all_seen_probability(20, 4, 25),
        theory.subspaces.unseen_probability(20, 4, 5),
        theory.subspaces.draws_needed(20, 4),
        theory.subspaces.draws_needed(20, 4, risk=0.3),
        theory.subspaces.expected_draws(20, 4),
        theory.subspaces.companions_probability(40, 10, 2),
        theory.subspaces.blind_probability(40, 10, 3),
    ]


@case("simulate/chain", theory.subspaces.Simulation, scenario="chain", n_relevant=3)
@case("simulate/clique, K = 4", scenario="clique", n_relevant=2, max_features=4)
@case("simulate/drawn", drawn=True)
def _simulated(drawn: bool = False, scenario: Any = None, **options: Any) -> Any:
    scenario = (
        theory.subspaces.random_conditionings(4, max_degree=3, random_state=1)
        if drawn
        else scenario
    )
    result = theory.subspaces.simulate(
        scenario,
        n_features=20,
        subspace=8,
        keep=0.5,
        n_trees=12,
        n_repeats=20,
        random_state=5,
        **options,
    )
    return (
        result.curve,
        result.found_at,
        result.degrees,
        result.standard_error,
        result.feature_curves,
    )


@case("conditionings")
def _conditionings() -> Any:
    named = [conditionings_of("simulate", name, 3) for name in ("chain", "clique", "marginal")]
    drawn = theory.subspaces.random_conditionings(5, max_degree=3, random_state=2)
    return [
        [[sorted(int(x) for x in subset) for subset in sets] for sets in scenario]
        for scenario in (*named, drawn)
    ]


@case("plan", theory.subspaces.Plan, theory.subspaces.PlanOption, relevant={0: 3, 1: 2})
@case("plan/numbers", relevant={0: 5, 2: 1}, n_classes=1, bytes_per_value=2, risk=0.2, keep=0.5)
def _plan(**options: Any) -> Any:
    result = theory.search_plan(n_rows=200, n_features=1000, memory=64_000, **options)
    return (
        result.n_trees,
        result.subspace,
        result.keep,
        result.overhead,
        result.bytes_per_feature,
        [
            (
                option.keep,
                option.places,
                option.chances,
                option.trees_by_degree,
                option.trees_to_find,
                option.trees_to_see,
                option.chain_trees,
                option.marginal_trees,
                option.trees,
            )
            for option in result.options
        ],
    )


# --- finite samples -------------------------------------------------------------------------------


@case("finite samples")
def _finite() -> Any:
    return [
        theory.samples.information_threshold(0.05, 100, 3, 2),
        theory.samples.information_threshold(0.01, 100, 3, 4, 2, n_candidates=10, unit="nats"),
        theory.samples.expected_information(100, 3, 2),
        theory.samples.expected_information(100, 3, 2, 4, unit="nats"),
        theory.samples.information_p_value(0.05, 100, 3, 2),
        theory.samples.information_p_value(np.array([0.01, 0.1]), 100, 3, 2, n_candidates=5),
        theory.samples.degrees_of_freedom(3, 4, 2),
        theory.samples.miller_madow([[3, 5], [0, 2]]),
        theory.samples.miller_madow([[3, 5], [0, 2]], unit="bits"),
    ]


@case("node_test", theory.samples.NodeTest)
@case("node_test/candidates", n_candidates=7)
def _node(**options: Any) -> Any:
    result = theory.samples.node_test([[30, 10, 2], [10, 30, 5]], **options)
    return (
        result.information,
        result.n_rows,
        result.freedom,
        result.expected,
        result.p_value,
        result.corrected,
    )
