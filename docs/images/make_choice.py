"""Draws choice.png: the question to ask, and the command that answers it."""

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

# Question or command, and what follows each answer.
TREE = (
    "What do you want\nto know?",
    {
        "which columns matter\nfor a target": (
            "Does memory hold\nall columns?",
            {
                "yes, and I want a ranking\nwith significance": "duramen rank",
                "yes, and I want\na short list": "duramen select --selector ...",
                "no": "duramen pack, duramen select",
            },
        ),
        "which list predicts best, and\nwould be found again": "duramen compare",
        "whether importances depend\non a circumstance": "duramen context",
        "what acts on what": (
            "Between what?",
            {"genes": "duramen network", "neurons": "duramen connectome"},
        ),
        "the exact importances of a\ntable of few categories": "duramen exact",
        "how many trees to grow,\nbefore I start": "duramen plan",
    },
)
WIDTH = 3.9  # of a level
FACE = {True: "#e8eef7", False: "#dff0e3"}  # questions, commands


def leaves(node: str | tuple[str, dict]) -> int:
    """Number of commands below a node."""
    return 1 if isinstance(node, str) else sum(map(leaves, node[1].values()))


def draw(ax: Axes, node: str | tuple[str, dict], level: int, top: float) -> float:
    """Draw a node and what follows; return its height."""
    inner = isinstance(node, tuple)
    middle = top - leaves(node) / 2
    text = node[0] if inner else node
    style = {"boxstyle": "round,pad=0.45", "facecolor": FACE[inner], "edgecolor": "#555555"}
    family = "sans-serif" if inner else "monospace"
    ax.text(level * WIDTH, middle, text, va="center", family=family, bbox=style, zorder=3)
    if inner:
        for answer, follower in node[1].items():
            there = draw(ax, follower, level + 1, top)
            top -= leaves(follower)
            start, end = level * WIDTH + 0.3, (level + 1) * WIDTH - 0.15
            bend = start + 1.3
            ax.plot(
                [start, bend, bend, end],
                [middle, middle, there, there],
                "-",
                color="#999999",
                zorder=1,
            )
            plain = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
            ax.text(bend + 0.12, there, answer, va="center", fontsize=8.5, bbox=plain, zorder=2)
    return middle


figure = Figure(figsize=(12, 5.4), layout="constrained")
ax = figure.subplots()
draw(ax, TREE, 0, 0.0)
ax.set(xlim=(-0.2, 2 * WIDTH + 3.0), ylim=(-leaves(TREE), 0))
ax.axis("off")
figure.savefig(Path(__file__).with_name("choice.png"), dpi=110)
