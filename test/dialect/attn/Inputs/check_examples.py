"""Checks what the reader of docs/examples may rely on; prints each fault and exits with 1 if there is one."""

import pathlib
import re
import sys


def faults(text):
    """What is wrong with the text of one example."""
    if not re.match(r"// \S", text):
        yield "expected a leading comment"
    if len(re.findall(r"^// DEMO: --shape \S", text, re.MULTILINE)) != 1:
        yield "expected one line '// DEMO: --shape ...'"
    signatures = re.findall(r"^func\.func @\w+\((.*?)\) *\{$", text, re.MULTILINE | re.DOTALL)
    if len(signatures) != 1:
        yield "expected one function, got %d" % len(signatures)
    for signature in signatures:
        arguments, _, results = signature.partition("->")
        names = re.findall(r'attn\.name = "([^"]*)"', signature)
        expected = len(re.findall(r"%\w+:", arguments)) + len(re.findall(r"tensor<", results))
        if len(names) != expected or len(set(names)) != expected:
            yield "expected %d different names of arguments and results, got %s" % (expected, names)
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > 120:
            yield "line %d has more than 120 columns" % number


def main():
    found = 0
    specs = sorted(pathlib.Path(sys.argv[1]).glob("*.mlir"))
    for spec in specs:
        for fault in faults(spec.read_text()):
            print("%s: %s" % (spec.name, fault))
            found += 1
    if not specs:
        print("no examples in %s" % sys.argv[1])
    return 1 if found or not specs else 0


if __name__ == "__main__":
    sys.exit(main())
