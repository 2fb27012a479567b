"""Information in finite samples: bias, null distribution, thresholds and tests at a node."""

from duramen.theory.samples.information_tests import (
    NodeTest,
    degrees_of_freedom,
    expected_information,
    information_p_value,
    information_threshold,
    miller_madow,
    node_test,
)

__all__ = [
    "NodeTest",
    "degrees_of_freedom",
    "expected_information",
    "information_p_value",
    "information_threshold",
    "miller_madow",
    "node_test",
]
