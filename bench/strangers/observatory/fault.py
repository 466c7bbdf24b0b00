"""The one fault that is switched on, if any."""
import sys

NAME = sys.argv[sys.argv.index('--fault') + 1] if '--fault' in sys.argv else None


def on(name):
    return NAME == name
