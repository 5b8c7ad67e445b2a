"""`python -m mailbox_mcp`: the same as `postoffice mcp` with the first five tools."""

import sys

from postoffice.cli.main import main
from postoffice.core.tools import STDIO

if __name__ == "__main__":
    sys.exit(main(["mcp", "--tools", STDIO, *sys.argv[1:]]))
