"""Fails where two values of a kernel in CUDA C++, which comes from stdin, have one name."""

import re
import sys

TYPE = r"(?:const )?(?:__grid_constant__ )?(?:[uif](?:8|16|32|64)|bool|bf16|f16|auto|\w+[24]|TensorMap|Words<\d+>|Array<\w+, \d+>)"
DECLARATION = re.compile(rf"(?:^\s*|for \(|, |\n\s*){TYPE} \*?(\w+)(?= =|;|\[|,$|\) \{{)", re.MULTILINE)


def find_hidden(function: str) -> set[str]:
    """The names that `function` declares more than once."""
    names = DECLARATION.findall(function)
    assert len(names) > 20, "expected a kernel that declares its values, one a line"
    return {name for name in names if names.count(name) > 1}


def main() -> int:
    kernels = sys.stdin.read().split('extern "C" __global__')[1:]
    assert kernels, "expected kernels"
    hidden = set().union(*map(find_hidden, kernels))
    for name in sorted(hidden):
        print(f"more than one value is called {name}")
    return bool(hidden)


if __name__ == "__main__":
    sys.exit(main())
