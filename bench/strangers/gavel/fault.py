"""The one planted fault that is on, if any: `--fault NAME`."""
import sys

NAME = sys.argv[sys.argv.index("--fault") + 1] if "--fault" in sys.argv else None


def F(name):
    return NAME == name
