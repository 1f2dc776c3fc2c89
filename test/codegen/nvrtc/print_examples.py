"""Prints each example as CUDA C++, for Hopper and for all from Ampere on: print_examples.py ATTNC EXAMPLES"""

import pathlib
import subprocess
import sys

attnc, examples = sys.argv[1:]
failed = 0
for spec in sorted(pathlib.Path(examples).glob("*.mlir")):
    for arch in ("sm_90a", "sm_80"):
        done = subprocess.run([attnc, "compile", spec, "--target", "nvrtc:" + arch, "--emit", "cuda"],
                              capture_output=True, text=True)
        if done.returncode or 'extern "C" __global__ void' not in done.stdout:
            failed += 1
            print(spec.name, arch, done.stderr)
print(failed, "failed")
