"""Specs that end a program which takes them as they come.

make_hostile.py KIND FILE             writes one
make_hostile.py FOLDER -- COMMAND...  runs the command on each, and prints how it ended and the first line that it said
"""

import os
import re
import subprocess
import sys

TENSOR = "tensor<?x?x2x8xf32>"


def spec(region="", argument="", clause=""):
    return """func.func @k(%%q: %s {attn.name = "q"}, %%t: %s) -> %s {
  %%o = attn.forward %%q, %%q, %%q %s
%s    : (%s, %s, %s) -> %s
  return %%o : %s
}
""" % (TENSOR, argument or "f32", TENSOR, clause, region, *[TENSOR] * 5)


def score(lines, last):
    return "    score (%s, %b, %h, %i, %j) {\n" + "".join(lines) + "      attn.yield " + last + " : f32\n    }\n"


def chain(count, operation):
    lines = ["      %%x%d = %s : f32\n" % (n, operation % ("%s" if n == 0 else "%%x%d" % (n - 1))) for n in range(count)]
    return spec(score(lines, "%%x%d" % (count - 1)))


def function(attribute):
    return "func.func @f() attributes {a = " + attribute + "} { return }\n"


def aliases(count, value):
    lines = ["#a0 = [1]"] + ["#a%d = " % n + value % {"n": n - 1} for n in range(1, count)]
    return "\n".join(lines) + "\n" + function("#a%d" % (count - 1))


def kernels(count):
    lines = ["  %%o%d = attn.forward %%q, %%q, %%q scale(%d.0) : (%s) -> %s\n" % (n, n, ", ".join([TENSOR] * 3), TENSOR)
             for n in range(count)]
    return "func.func @k(%%q: %s) -> %s {\n" % (TENSOR, TENSOR) + "".join(lines) + "  return %%o0 : %s\n}\n" % TENSOR


def named(name):
    return spec().replace("@k(", '@"%s"(' % name)


deep = 10000
KINDS = {
    "types": lambda: "func.func @f(%%a: %si32%s) { return }\n" % ("tuple<" * deep, ">" * deep),
    "attributes": lambda: function("[" * deep + "]" * deep),
    "unclosed": lambda: function("[" * deep),
    "dictionaries": lambda: function("{a = " * deep + "1" + "}" * deep),
    "elements": lambda: function("dense<" + "[" * deep + "1" + "]" * deep + "> : tensor<1xi32>"),
    "locations": lambda: "func.func @f() { return } loc(%s)\n" % ("callsite(unknown at " * deep + "unknown" + ")" * deep),
    "modules": lambda: "module {" * deep + "}" * deep,
    "expressions": lambda: function("affine_map<(d0) -> (d0" + " + d0" * 100000 + ")>"),
    "alias-chain": lambda: aliases(deep, "[#a%(n)d]"),
    "alias-tree": lambda: aliases(60, "[#a%(n)d, #a%(n)d]"),
    "digits": lambda: "func.func @f() { %c = arith.constant " + "1" * 1000000 + " : index return }\n",
    "rank": lambda: "func.func @f(%%a: tensor<%sf32>) { return }\n" % ("1x" * 100000),
    "size": lambda: "// more\n" * 1000000,
    "operations": lambda: chain(10000, "arith.addf %s, %%s"),
    "squares": lambda: chain(10000, "arith.mulf %s, %%s"),
    "math": lambda: chain(100, "math.sin %s"),
    "kernels": lambda: kernels(100),
    "arguments": lambda: spec().replace("%t:", ", ".join("%%t%d: f32" % n for n in range(5000)) + ", %t:"),
    "sinks": lambda: spec(argument="tensor<2x10000xf32>", clause="sinks(%t : tensor<2x10000xf32>)"),
    "encoding": lambda: spec(argument='tensor<2x2xf32, "x">'),
    "attribute": lambda: chain(1, "math.exp %s {attn.nonpositive}"),
    "range": lambda: spec(score(["      %x, %y = attn.load_range %t[%j to %j] : tensor<?xf32>\n"], "%s"),
                          argument="tensor<?xf32>"),
    "bounds": lambda: spec("""    bounds (%b, %h, %first, %last) {
      %c0 = arith.constant 0 : index
      %c9 = arith.constant 9999999 : index
      attn.yield %c0, %c0, %c9, %c9 : index, index, index, index
    }
"""),
    "blocks": lambda: spec("""    blocks (%b, %h, %i0, %i1, %j0, %j1) {
      %true = arith.constant true
      attn.yield %true, %true : i1, i1
    }
"""),
    "zero": lambda: spec().replace("%q:", "%q\0:"),
    "escape": lambda: spec().replace("func.func", "func.func\x1b[2J\x07"),
    "escaped-name": lambda: spec().replace('"q"', '"\\1B[2J"'),
    "empty-name": lambda: spec().replace('"q"', '""'),
    "escaped-function": lambda: named("\\1B[2J"),
    "function": lambda: named("a b"),
    "utf16": lambda: spec().encode("utf-16"),
    "marked": lambda: spec().encode("utf-8-sig"),
    "latin1": lambda: "// caf\u00e9\n".encode("latin-1") + spec().encode(),
    "bytecode": lambda: b"ML\xefR\x06" + b"MLIR22\0" * 4,
    "long-line": lambda: spec().replace("attn.forward", " " * 5000 + "attn.sideways" + " " * 5000),
    "file": lambda: 'func.func @f() { return } loc("/etc/passwd":1:1)\n',
    "endless-file": lambda: 'func.func @f() { return } loc("/dev/zero":1:1)\n',
    "empty": lambda: "",
    # In the generic form nothing says what an index is; '%j + 0' must not become '%j', which is not clamped.
    "generic": lambda: '''func.func @k(%q: T, %t: tensor<?xf32>) -> T {
  %o = "attn.forward"(%q, %q, %q) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}> ({
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %c0 = arith.constant 0 : index
    %x = arith.addi %j, %c0 : index
    %l = "attn.load"(%t, %x) : (tensor<?xf32>, index) -> f32
    %y = arith.addf %s, %l : f32
    "attn.yield"(%y) : (f32) -> ()
  }, {}, {}, {}) : (T, T, T) -> T
  return %o : T
}
'''.replace("T", TENSOR),
}



def write(kind, path):
    text = KINDS[kind]()
    with open(path, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())


def run_all(folder, command):
    os.makedirs(folder, exist_ok=True)
    for kind in KINDS:
        write(kind, os.path.join(folder, "spec.mlir"))
        done = subprocess.run(command + ["spec.mlir", "-o", "none"], cwd=folder, stderr=subprocess.PIPE, timeout=120)
        lines = done.stderr.decode(errors="backslashreplace").split("\n")
        raw = " raw bytes" if re.search(rb"[\x00-\x08\x0b-\x1f\x7f]", done.stderr) else ""
        wide = " wide lines" if max(map(len, lines)) > 320 else ""
        print("%s: %d%s%s %s" % (kind, done.returncode, raw, wide, lines[0]))


if sys.argv[2] == "--":
    run_all(sys.argv[1], sys.argv[3:])
else:
    write(sys.argv[1], sys.argv[2])
