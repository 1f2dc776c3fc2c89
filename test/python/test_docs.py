"""The programs of docs/python.md run, each by itself."""

import importlib.util
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = re.findall(r"^```python\n(.*?)^```$", (ROOT / "docs/python.md").read_text(), re.MULTILINE | re.DOTALL)


def test_there_are_some_for_each_door():
    entries = ("attnc.compile(", "attnc.jit(", "from attnc.torch import", "from attnc.jax import")
    assert [sum(entry in program for program in PROGRAMS) for entry in entries] == [1, 1, 3, 2]


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_program(number, monkeypatch, tmp_path):
    program = PROGRAMS[number]
    for framework in ("torch", "jax"):
        if f"import {framework}" in program and importlib.util.find_spec(framework) is None:
            pytest.skip(f"there is no {framework}")
    monkeypatch.chdir(ROOT)
    # A file, since functions are found by it where one cannot be traced.
    path = tmp_path / "program.py"
    path.write_text(program)
    names = {"__name__": "program", "__file__": str(path)}
    exec(compile(program, str(path), "exec"), names)
    out = names["out"]
    assert out.ndim == 4 and bool((out == out).all())
