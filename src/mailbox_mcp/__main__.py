"""The entrance by its first name: `postoffice mcp`, with the five tools it always had."""

import sys

from postoffice.cli.main import main
from postoffice.core.tools import STDIO

if __name__ == "__main__":
    sys.exit(main(["mcp", "--tools", STDIO, *sys.argv[1:]]))
