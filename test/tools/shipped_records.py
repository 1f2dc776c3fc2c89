"""Whether each record that is shipped is one that `attnc explain` goes by, for the example and the sizes it was made of.

  shipped_records.py ATTNC
"""

from __future__ import annotations

import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def find_examples() -> dict[str, pathlib.Path]:
    """The example that has each function, by the function's name."""
    files = sorted((ROOT / "docs/examples").glob("*.mlir"))
    return {name: file for file in files for name in re.findall(r"func\.func @(\w+)", file.read_text(encoding="utf-8"))}


def fault_of(program: str, file: pathlib.Path, device: str, record: dict[str, object], example: pathlib.Path) -> str:
    """Why the record is not used; empty where it is."""
    name, sizes = str(record["name"]), str(record["sizes"]).replace(" ", "")
    backward = ["--backward"] * name.endswith("_backward")
    command = [program, "explain", str(example), "--entry", name.removesuffix("_backward"), *backward, "--shape", sizes, "--device",
               device, "--target", str(record["target"]), "--policy", "records", "--records", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stderr.strip() if done.returncode else "" if f"measured at {record['sizes']}" in done.stdout else done.stdout


def main(program: str) -> int:
    examples, faults = find_examples(), 0
    for file in sorted((ROOT / "runtime/tune/records").glob("*.json")):
        book = json.loads(file.read_text(encoding="utf-8"))
        for record in book["records"]:
            fault = fault_of(program, file, book["device"], record, examples[record["name"].removesuffix("_backward")])
            faults += bool(fault)
            if fault:
                print(f"{file.name}: {record['name']}, {record['sizes']}: {fault}")
        print(f"{file.name}: {len(book['records'])} records")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
