"""What type checkers read of the module of C++ is what the module has."""

import ast
import pathlib
import re

import attnc
from attnc import _core

STUB = ast.parse((pathlib.Path(attnc.__file__).parent / "_core.pyi").read_text(encoding="utf-8"))


def declared(body):
    """Names of functions, classes and attributes, with what stands in them."""
    found = {}
    for item in body:
        if isinstance(item, (ast.FunctionDef, ast.ClassDef)):
            found[item.name] = item
        elif isinstance(item, ast.AnnAssign):
            found[item.target.id] = item
    return {name: item for name, item in found.items() if not name.startswith("_")}


def public(owner):
    return {name for name in vars(owner) if not name.startswith("_")}


def test_names():
    names = declared(STUB.body)
    assert set(names) == public(_core)
    for name, item in names.items():
        if isinstance(item, ast.ClassDef) and name != "Error":
            assert set(declared(item.body)) == public(getattr(_core, name)), name


def test_parameters():
    """nanobind writes signatures into docstrings."""
    functions = [(_core, item) for item in STUB.body if isinstance(item, ast.FunctionDef)]
    for item in STUB.body:
        if isinstance(item, ast.ClassDef):
            functions += [(getattr(_core, item.name), inner) for inner in item.body if isinstance(inner, ast.FunctionDef)]
    checked = 0
    for owner, function in functions:
        text = getattr(getattr(owner, function.name, None), "__doc__", None) or ""
        if function.name.startswith("_") or not text.startswith(f"{function.name}("):
            continue
        # Types and defaults may be what Python cannot read; names come before a colon, and after a bracket or a comma.
        written = re.findall(r"(?:[(]|, )(\w+)(?=: )", text.splitlines()[0])
        assert [argument.arg for argument in function.args.args if argument.arg != "self"] == written, function.name
        checked += 1
    assert checked > 3
