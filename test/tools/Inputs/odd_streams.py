"""Runs a command under odd circumstances and prints how it ended.

odd_streams.py limit COMMAND...          no file may grow beyond a block
odd_streams.py closed COMMAND...         standard output is closed
odd_streams.py broken COMMAND...         standard output is a pipe that nobody reads
odd_streams.py signal FOLDER COMMAND...  'attnc run' is ended by a signal while it writes its results to FOLDER
"""

import os
import resource
import shutil
import signal
import struct
import subprocess
import sys
import time


def run(command, **options):
    done = subprocess.run(command, stderr=subprocess.PIPE, **options)
    print(done.stderr.decode() + "status", done.returncode)


def write_inputs(path, rows):
    """Tensors of the spec tiny.mlir, so many rows that their results take a while to write."""
    shapes = {"q": [1, rows, 2, 8], "k": [1, 1, 1, 8], "v": [1, 1, 1, 8], "scale": []}
    entries, end = [], 0
    for name, shape in shapes.items():
        begin, size = end, 4
        for extent in shape:
            size *= extent
        end += size
        entries.append('"%s":{"dtype":"F32","shape":%s,"data_offsets":[%d,%d]}' % (name, shape, begin, end))
    header = ("{" + ",".join(entries) + "}").encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        file.truncate(8 + len(header) + end)


def end_while_writing(folder, command, number):
    """Whether the process was caught between making its file and renaming it, and what it left then."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    write_inputs(os.path.join(folder, "in"), 1 << 19)
    output = os.path.join(folder, "out")
    process = subprocess.Popen(command + ["--inputs", os.path.join(folder, "in"), "--outputs", output])
    caught = False
    while process.poll() is None and not caught:
        caught = any(name.startswith(".attnc") for name in os.listdir(folder))
        time.sleep(0.0005)
    process.send_signal(number)
    process.wait()
    return caught and not os.path.exists(output), sorted(set(os.listdir(folder)) - {"in", "out"})


def main(kind, *command):
    command = list(command)
    if kind == "limit":
        run(command, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512)))
    elif kind == "closed":
        run(command, preexec_fn=lambda: os.close(1))
    elif kind == "broken":
        reader, writer = os.pipe()
        os.close(reader)
        run(command, stdout=writer)
    elif kind == "signal":
        folder = command.pop(0)
        for number in (signal.SIGTERM, signal.SIGINT):
            caught, left = False, []
            for _ in range(20):
                if not caught and not left:
                    caught, left = end_while_writing(folder, command, number)
            print(number.name, "left", ", ".join(left) or ("nothing" if caught else "a file before it came"))


main(*sys.argv[1:])
