"""A spec whose mask joins so many tensors of segment ids."""

import sys

count = int(sys.argv[1])
rows, ids = "tensor<?x?x2x64xbf16>", "tensor<?x?xi32>"
arguments = "".join(f", %s{n}: {ids}" for n in range(count))
print(f"func.func @segments(%q: {rows}, %k: {rows}, %v: {rows}{arguments}) -> {rows} {{")
print("  %o = attn.forward %q, %k, %v mask (%b, %h, %i, %j) {")
joined = ""
for n in range(count):
    print(f"    %same{n} = attn.same_segment %s{n}[%b, %i], %s{n}[%b, %j] : {ids}, {ids}")
    if joined:
        print(f"    %any{n} = arith.ori {joined}, %same{n} : i1")
    joined = f"%any{n}" if joined else f"%same{n}"
print(f"    attn.yield {joined} : i1\n  }} : ({rows}, {rows}, {rows}) -> {rows}\n  return %o : {rows}\n}}")
