"""python -m stepback runs the command."""

import subprocess
import sys

from . import binary

sys.exit(subprocess.call([binary(), *sys.argv[1:]]))
