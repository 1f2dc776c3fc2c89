"""Evaluates the expansions of @exp2, @exp and @exp_of_product in an MLIR file in f32, and compares them with the true
functions.

Usage: check_exponentials.py FILE, which holds the output of cpu-expand-math and cse.
"""

import math
import re
import struct
import sys


def f32(x):
    try:
        return struct.unpack("f", struct.pack("f", x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)


def bits(x):
    return struct.unpack("I", struct.pack("f", x))[0]


def from_bits(word):
    return struct.unpack("f", struct.pack("I", word & 0xFFFFFFFF))[0]


def literal(text, integer):
    if text.startswith("0x"):
        return from_bits(int(text, 16))
    return int(text) if integer else f32(float(text))


OPERATIONS = {
    "arith.addf": lambda a, b: f32(a + b),
    "arith.subf": lambda a, b: f32(a - b),
    "arith.mulf": lambda a, b: f32(a * b),
    "arith.select": lambda c, a, b: a if c else b,
    "math.fma": lambda a, b, c: f32(a * b + c),  # the product is exact in fp64
    "arith.shli": lambda a, b: a << b & 0xFFFFFFFF,
    "arith.addi": lambda a, b: a + b & 0xFFFFFFFF,
}


def evaluate(lines, x):
    values = {"%arg0": x}
    for line in lines:
        constant = re.match(r"(%\w+) = arith.constant dense<(\S+)> : vector<8x(\w)", line)
        step = re.match(r"(%\w+) = ([\w.]+) (\w+, )?(%.*?) : (.*)", line)
        if constant:
            values[constant.group(1)] = literal(constant.group(2), constant.group(3) == "i")
        elif line.startswith("return"):
            return values[line.split()[1]]
        elif step:
            name, operation, predicate, operands, types = step.groups()
            operands = [values[operand] for operand in operands.split(", ")]
            if operation == "arith.cmpf":
                a, b = operands
                values[name] = {"ogt": a > b, "olt": a < b}[predicate.strip(", ")]
            elif operation == "arith.bitcast":
                values[name] = bits(operands[0]) if types.endswith("xi32>") else from_bits(operands[0])
            else:
                values[name] = OPERATIONS[operation](*operands)
        else:
            sys.exit("cannot read: " + line)
    sys.exit("no return")


def body(text, name):
    return [line.strip() for line in text.split("func.func @%s(" % name)[1].split("\n  }")[0].split("\n")[1:]]


text = open(sys.argv[1]).read()
# e^x may be off by 2.7e-9 relative for each unit of x, which is up to 0.05 units in the last place; e^(s x) by as much as
# from a rounding of s x, up to 1 unit.
for name, power, scale, low, high, slope in (
    ("exp2", lambda x: 2.0**x, 1, -125.49, 127.99, 0),
    ("exp", math.exp, 1, -86.98, 88.7, 0.05),
    ("exp_of_product", math.exp, f32(128**-0.5), -86.98, 88.7, 1),
):
    lines = body(text, name)
    worst = 0
    for n in range(20001):
        x = f32((low + (high - low) * n / 20000) / scale)
        got, wanted = evaluate(lines, x), power(scale * x)
        ulp = 2.0 ** (math.frexp(wanted)[1] - 24)
        worst = max(worst, abs(got - wanted) / ulp - slope * abs(scale * x))
    if worst > 1.5:
        sys.exit("%s is wrong by %.2f ulp" % (name, worst))
    for x, wanted in ((0.0, 1.0), (-math.inf, 0.0), (-1e30, 0.0), (-151.0, 0.0), (129.0, math.inf), (math.inf, math.inf)):
        got = evaluate(lines, x / scale)
        if got != wanted:
            sys.exit("%s(%g) is %g, expected %g" % (name, x, got, wanted))
    if not math.isnan(evaluate(lines, math.nan)):
        sys.exit("%s(nan) is a number" % name)
    print("%s: within %.2f ulp" % (name, worst))
