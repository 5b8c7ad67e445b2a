"""The entrance by its first name; `postoffice mcp` is the same."""

import sys

from postoffice.cli.main import main

if __name__ == "__main__":
    sys.exit(main(["mcp", *sys.argv[1:]]))
