"""Deletes each synchronising line of a tile program by itself, and expects the simulator to find fault with what is
left.

usage: delete_lines.py PROGRAM COMMAND...    the program without the line is the command's standard input
"""

import re
import subprocess
import sys

lines = open(sys.argv[1]).read().splitlines(keepends=True)
places = [n for n, line in enumerate(lines) if re.search(r"\btile\.(put|release|turn|sync)\b", line)]
survivors = []
for place in places:
    program = "".join(lines[:place] + lines[place + 1 :])
    done = subprocess.run(sys.argv[2:], input=program, text=True, capture_output=True)
    if done.returncode == 0 or "error: 'tile." not in done.stderr:
        survivors.append(place)
        print("not caught without line %d: %s%s" % (place + 1, lines[place], done.stderr))
print("caught %d of %d" % (len(places) - len(survivors), len(places)))
sys.exit(1 if survivors or not places else 0)
