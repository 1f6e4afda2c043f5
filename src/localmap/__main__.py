"""``python -m localmap`` is the command ``localmap``."""

import sys

from localmap.cli import main

if __name__ == "__main__":
    sys.exit(main())
