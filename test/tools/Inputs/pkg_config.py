"""Runs a compiler with the flags that pkg-config gives: pkg_config.py PREFIX LIBRARY COMPILER ARGUMENTS...,
for the library `full` or `runtime`."""

import glob
import os
import subprocess
import sys

prefix, library, *command = sys.argv[1:]
package = {"full": "attnc", "runtime": "attnc-runtime"}[library]
os.environ["PKG_CONFIG_PATH"] = glob.glob(prefix + "/lib*/**/pkgconfig", recursive=True)[0]
flags = subprocess.run(["pkg-config", "--cflags", "--libs", package], check=True, capture_output=True, text=True)
sys.exit(subprocess.run(command + flags.stdout.split()).returncode)
