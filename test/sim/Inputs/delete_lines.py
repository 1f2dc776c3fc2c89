"""Deletes each synchronising line of a tile program by itself, and expects the simulator to find fault with what is
left.

usage: delete_lines.py PROGRAM KIND=COUNT... -- COMMAND...    the program without the line is the command's standard input

KIND is an operation (put, release, ping_pong, sync), and COUNT how many lines of it the program has at least: a kind that
is found less often, as one that has got another name is, fails the test. KIND=COUNT-SPARE has SPARE lines that can be
spared.
"""

import collections
import re
import subprocess
import sys

separator = sys.argv.index("--")
program, command = sys.argv[1], sys.argv[separator + 1 :]
lines = open(program).read().splitlines(keepends=True)
places, survivors = collections.Counter(), collections.Counter()
failed = separator < 3
for argument in sys.argv[2:separator]:
    kind, least, spare = re.fullmatch(r"(\w+)=(\d+)(?:-(\d+))?", argument).groups()
    for place, line in enumerate(lines):
        if not re.match(r"\s*tile\.%s\b" % kind, line):
            continue
        places[kind] += 1
        left = "".join(lines[:place] + lines[place + 1 :])
        done = subprocess.run(command, input=left, text=True, capture_output=True)
        if done.returncode == 0 or "error: 'tile." not in done.stderr:
            survivors[kind] += 1
            first = done.stderr.splitlines()[:1]
            print("not caught without line %d: %s" % (place + 1, " ".join([line.strip(), *first])))
    print("caught %d of %d %s" % (places[kind] - survivors[kind], places[kind], kind))
    if places[kind] < int(least):
        print("expected %s lines of tile.%s at least" % (least, kind))
    failed |= places[kind] < int(least) or survivors[kind] != int(spare or 0)
sys.exit(failed)
