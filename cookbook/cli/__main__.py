"""``python -m cookbook.cli``: the command line where the script ``cookbook`` is not on the path."""

from cookbook.cli import main

main()
