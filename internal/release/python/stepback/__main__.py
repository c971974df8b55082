"""python -m stepback runs the command."""

import subprocess
import sys

from . import binary

try:
    command = binary()
except FileNotFoundError as err:
    sys.exit(str(err))
sys.exit(subprocess.call([command, *sys.argv[1:]]))
