"""Specs with long regions.

make_long_region.py score|mask divisions|gathers COUNT    prints one
"""

import sys

TENSOR = "tensor<?x?x2x64xf32>"

# One step of a chain: what it computes of the last value, and the number that counts it.
STEPS = {
    "divisions": ["%divisor{n} = arith.addi %j, %c{n} : index",
                  "%y{n} = arith.floordivsi %x{n}, %divisor{n} : index",
                  "%x{next} = arith.addi %y{n}, %i : index"],
    "gathers": ["%at{n} = arith.addi %x{n}, %c{n} : index",
                "%e{n} = attn.load %table[%at{n}, %c{n}] : tensor<?x4xi32>",
                "%w{n} = arith.index_cast %e{n} : i32 to index",
                "%x{next} = arith.xori %x{n}, %w{n} : index"],
}
ENDS = {
    "score": ["%bits = arith.andi %x{last}, %c7 : index", "%number = arith.index_cast %bits : index to i32",
              "%float = arith.sitofp %number : i32 to f32", "%sum = arith.addf %s, %float : f32", "attn.yield %sum : f32"],
    "mask": ["%bits = arith.andi %x{last}, %c7 : index", "%keep = arith.cmpi ne, %bits, %c3 : index",
             "attn.yield %keep : i1"],
}


def main():
    region, kind, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    arguments = ", ".join("%%%s: %s" % (name, TENSOR) for name in "qkv")
    arguments += ', %table: tensor<?x4xi32> {attn.name = "table"}'
    print("func.func @k(%s) -> %s {" % (arguments, TENSOR))
    for number in range(max(count, 8)):
        print("  %%c%d = arith.constant %d : index" % (number, number))
    print("  %o = attn.forward %q, %k, %v")
    print("    score (%s, %b, %h, %i, %j) {" if region == "score" else "    mask (%b, %h, %i, %j) {")
    print("      %x0 = arith.subi %i, %j : index")
    for number in range(count):
        for line in STEPS[kind]:
            print("      " + line.format(n=number, next=number + 1))
    for line in ENDS[region]:
        print("      " + line.format(last=count))
    print("    }\n    : (%s) -> %s\n  return %%o : %s\n}" % (", ".join([TENSOR] * 3), TENSOR, TENSOR))


main()
