"""`python -m duramen`: the command `duramen`, where no script is on the path."""

from duramen.cli import main

main()
