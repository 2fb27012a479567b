"""The tables and figures of the papers, computed again beside what was printed."""
