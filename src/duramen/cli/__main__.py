"""`python -m duramen.cli`."""

from duramen.cli import main

main()
