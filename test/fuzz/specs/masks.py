"""Random mask regions: integer arithmetic of every width and sign, and what users write."""

from __future__ import annotations

from builder import Builder, Rejected
from scalars import width_of
from spec import Load, Region, tensor_type

INTEGERS = ("index", "i8", "i16", "i32", "i64")

_BINARY = (
    ["arith.addi"] * 6 + ["arith.subi"] * 6 + ["arith.muli"] * 4
    + ["arith.divsi", "arith.floordivsi", "arith.ceildivsi", "arith.remsi"] * 2
    + ["arith.divui", "arith.ceildivui", "arith.remui"] * 2
    + ["arith.andi", "arith.ori", "arith.xori"] * 2
    + ["arith.maxsi", "arith.minsi", "arith.maxui", "arith.minui"]
    + ["arith.shli", "arith.shrsi", "arith.shrui"] * 2 + ["math.ipowi"]
)
_DIVISIONS = {"arith.divsi", "arith.floordivsi", "arith.ceildivsi", "arith.remsi", "arith.divui", "arith.ceildivui", "arith.remui"}
_SHIFTS = {"arith.shli", "arith.shrsi", "arith.shrui"}


def shift_amount(builder: Builder, type_name: str) -> str:
    rng, width = builder.rng, width_of(type_name)
    kind = rng.random()
    if kind < 0.6:
        return builder.constant(rng.randrange(width), type_name)
    if kind < 0.75:
        return builder.constant(rng.choice([width - 1, width, width + 1, 31, 32, 33, 40, 63, 64, -1]), type_name)
    if kind < 0.85 and type_name != "i16":
        return builder.add_scalar(type_name, rng.choice([0, 1, 5, 31, 40, 63, 64, 100, -1]))
    return builder.pick(type_name)


def divisor(builder: Builder, type_name: str) -> str:
    rng = builder.rng
    kind = rng.random()
    if kind < 0.5:
        return builder.constant(rng.choice([2, 3, 4, 5, 7, 8, 16, 64, 100, 127]), type_name)
    if kind < 0.6:
        return builder.constant(rng.choice([-1, -2, -3, -64, 1]), type_name)
    if kind < 0.63:
        return builder.constant(0, type_name)
    if kind < 0.75 and type_name != "i16":
        return builder.add_scalar(type_name, rng.choice([0, -1, 1, 2, 3, 64, 1000, -5]))
    if kind < 0.85:
        return builder.integer(type_name)
    return builder.pick(type_name)


def random_integer_op(builder: Builder) -> str:
    """One more integer operation on what there is."""
    rng = builder.rng
    type_name = rng.choices([*INTEGERS, "i1"], [0.45, 0.08, 0.08, 0.22, 0.14, 0.03])[0]
    kind = rng.random()
    if kind < 0.58:
        name = rng.choice(_BINARY)
        left = builder.pick(type_name)
        if name in _SHIFTS:
            right = shift_amount(builder, type_name)
        elif name in _DIVISIONS:
            right = divisor(builder, type_name)
        elif name == "math.ipowi":
            right = builder.constant(rng.randint(0, 5), type_name) if type_name != "i1" else builder.pick("i1")
        else:
            right = builder.integer(type_name) if rng.random() < 0.4 else builder.pick(type_name, 0.3)
        if rng.random() < 0.1 and name != "math.ipowi":
            left, right = right, left
        return builder.emit(name, [left, right], [type_name])
    if kind < 0.66:
        return builder.emit(rng.choice(["math.absi", "math.absi", "math.ctlz", "math.cttz", "math.ctpop"]), [builder.pick(type_name)], [type_name])
    if kind < 0.8:
        return cast(builder, builder.pick(type_name))
    if kind < 0.85:
        return builder.emit("arith.select", [condition_leaf(builder), builder.pick(type_name), builder.pick(type_name, 0.2)], [type_name])
    if kind < 0.93:
        element = rng.choice(["i1", "i8", "i32", "i32", "i32", "i64", "i64"])
        return builder.load(element)
    return builder.scalar(type_name)


def cast(builder: Builder, name: str, target: str = "") -> str:
    """`name` as another integer type."""
    rng, source = builder.rng, builder.types[name]
    target = target or rng.choice([one for one in (*INTEGERS, "i1") if one != source and (one != "index" or source != "i1")])
    if source == target:
        return name
    if "index" in (source, target):
        return builder.emit(rng.choice(["arith.index_cast", "arith.index_cast", "arith.index_castui"]), [name], [source, target])
    wider = width_of(target) > width_of(source)
    return builder.emit(rng.choice(["arith.extsi", "arith.extui"]) if wider else "arith.trunci", [name], [source, target])


def condition_leaf(builder: Builder) -> str:
    """An i1 from what there is."""
    rng = builder.rng
    names = builder.names("i1")
    if names and rng.random() < 0.3:
        return rng.choice(names)
    kind = rng.random()
    if kind < 0.15:
        return builder.load("i1")
    if kind < 0.2:
        return builder.scalar("i1")
    if kind < 0.4:
        return sugar(builder)
    candidates = [name for name in builder.types if builder.types[name] in INTEGERS and builder.varies(name)]
    return builder.compare(rng.choice(candidates[-5:] if candidates and rng.random() < 0.7 else candidates or ["j"]))


# --- What users write -------------------------------------------------------------------------------------------------


def far(builder: Builder, position: str) -> str:
    """A position made one that no tensor has."""
    name, number = builder.rng.choice([
        ("arith.addi", 1 << 31), ("arith.addi", 3000000000), ("arith.addi", 1 << 40), ("arith.addi", (1 << 63) - 3),
        ("arith.addi", -(1 << 63)), ("arith.muli", 1 << 31), ("arith.muli", 1 << 62), ("arith.muli", -1),
    ])
    return builder.emit(name, [position, builder.constant(number, "index")], ["index"])


def sugar(builder: Builder) -> str:
    rng, grid = builder.rng, builder.grid
    kind = rng.choice(["causal", "causal", "window", "window", "segment", "prefix"])
    i, j = "i", "j"
    if rng.random() < 0.08:
        i = builder.emit("arith.addi", [i, builder.constant(rng.randint(-9, 9), "index")], ["index"])
    if rng.random() < 0.08:
        j = builder.emit("arith.muli", [j, builder.constant(rng.randint(1, 3), "index")], ["index"])
    if rng.random() < 0.06:
        i, j = rng.choice([(far(builder, i), j), (i, far(builder, j)), (far(builder, i), far(builder, j))])
    if kind == "causal":
        return builder.emit("attn.causal", [i, j], ["i1"])
    if kind == "window":
        sides = {}
        for side in rng.choice([("left",), ("right",), ("left", "right"), ("left", "right")]):
            width = rng.choice([0, 1, 5, 16, 63, 64, 100, rng.randint(0, max(grid.keys, 1))])
            if rng.random() < 0.1:
                width = rng.choice([(1 << 31) - 1, 1 << 31, 1 << 32, (1 << 63) - 1, 1 << 30, (1 << 29) + 5])
            sides[side] = builder.add_scalar("index", width, "w") if rng.random() < 0.35 else width
            if rng.random() < 0.05:
                sides[side] = builder.outside(width, "index")
            elif rng.random() < 0.05:
                # Computed, and negative for some.
                sides[side] = builder.emit("arith.subi", [rng.choice("ij"), builder.constant(rng.randint(0, 40), "index")], ["index"])
        return builder.emit("attn.window", [i, j], ["i1"], sides=sides)
    if kind == "prefix":
        load = builder.capture("i32", "length", rng.choice([1, 1, 2]))
        return builder.emit("attn.prefix", [j], ["i1"], loads=[load])
    return segments(builder)


def segments(builder: Builder) -> str:
    """Ids of queries and keys, a row each or one for all, in one tensor or two."""
    rng, loads = builder.rng, []
    batched = rng.random() < 0.6 and not builder.kernel.packed
    same = builder.axis("i") == builder.axis("j") and rng.random() < 0.4
    for coordinate in "ij":
        if same and loads:
            loads.append(Load(loads[0].tensor, [*loads[0].indices[:-1], coordinate]))
            continue
        sizes = ([builder.axis("b")] if batched else []) + [builder.axis(coordinate)]
        name = f"t{len(builder.spec.arguments)}"
        builder.spec.arguments[name] = tensor_type([None] * len(sizes), "i32")
        builder.inputs[name] = builder.content("i32", "ids", sizes)
        loads.append(Load(name, (["b"] if batched else []) + [coordinate]))
    return builder.emit("attn.same_segment", [], ["i1"], loads=loads)


def idiom(builder: Builder) -> str:
    """Conditions that are known to be hard: each a class of faults that other compilers have."""
    rng = builder.rng
    index = lambda name, *operands: builder.emit(name, list(operands), ["index"])
    number = lambda value: builder.constant(value, "index")
    less = lambda a, b, predicate="slt": builder.emit("arith.cmpi", [a, b], [builder.types[a]], predicate=predicate)
    runtime = lambda: builder.scalar("index")
    d = index("arith.subi", *rng.choice([("i", "j"), ("j", "i")]))
    kind = rng.randrange(14)
    if kind == 0:
        sign = index(rng.choice(["arith.shrsi", "arith.shrui"]), d, number(rng.choice([31, 32, 40, 62, 63])))
        return less(sign, number(0), rng.choice(["eq", "ne"]))
    if kind == 1:
        return less(index("arith.addi", "i", "j"), runtime(), rng.choice(["slt", "sle", "sgt", "ult"]))
    if kind == 2:
        return less(index("arith.divsi", "j", number(rng.choice([3, 64, 1000]))), runtime(), rng.choice(["slt", "sge", "ne"]))
    if kind == 3:
        return less(d, runtime(), rng.choice(["slt", "sle", "sgt", "sge"]))
    if kind == 4:
        type_name = rng.choice(["index", "i64", "i32"])
        a, b = (cast(builder, name, type_name) for name in ("i", "j"))
        make = lambda name, x, y: builder.emit(name, [x, y], [type_name])
        mixed = make("arith.addi", make("arith.muli", a, builder.integer(type_name)), make("arith.muli", b, builder.integer(type_name)))
        if rng.random() < 0.5:
            mixed = make("arith.xori", mixed, make("arith.shrui", mixed, builder.constant(rng.randint(3, 20), type_name)))
        rest = make(rng.choice(["arith.remui", "arith.remsi"]), mixed, builder.constant(rng.choice([5, 7, 10, 16, 100]), type_name))
        return builder.compare(rest)
    if kind == 5:
        size = rng.choice([16, 32, 48, 64, 100, 128])
        name = rng.choice(["arith.floordivsi", "arith.divsi", "arith.divui", "arith.ceildivsi", "arith.ceildivui"])
        return less(index(name, "i", number(size)), index(name, "j", number(size)), rng.choice(["eq", "sge", "uge", "ne"]))
    if kind == 6:
        # Through two tables.
        first = cast(builder, builder.load("i32", "length"), "index")
        element = rng.choice(["i1", "i32", "i8"])
        sizes = [rng.choice([4, 16, 40])]
        name = f"t{len(builder.spec.arguments)}"
        builder.spec.arguments[name] = tensor_type([None], element)
        builder.inputs[name] = builder.content(element, "", sizes)
        return builder.compare(builder.emit("attn.load", [], [element], loads=[Load(name, [first])]))
    if kind == 7:
        kept = builder.load("i1", rank=1)
        rest = index("arith.remui", d, number(rng.randint(2, 7)))
        return builder.emit(rng.choice(["arith.andi", "arith.ori"]), [kept, builder.compare(rest)], ["i1"])
    if kind == 8:
        squares = index("arith.subi", index("arith.muli", "i", "i"), index("arith.muli", "j", "j"))
        return builder.compare(squares)
    if kind == 9:
        big = index("arith.muli", rng.choice("ij"), number(rng.choice([1 << 20, 1 << 31, 1 << 40, (1 << 62) + 1, 3037000500])))
        return builder.compare(index(rng.choice(["arith.addi", "arith.xori", "arith.muli"]), big, rng.choice(["i", "j", d])))
    if kind == 10:
        element = rng.choice(["i32", "i64", "i8"])
        loaded = builder.load(element, rank=rng.choice([1, 1, 2]))
        moved = builder.emit(rng.choice(["arith.addi", "arith.subi"]), [cast(builder, rng.choice("ij"), element), loaded], [element])
        return builder.compare(moved)
    if kind == 11:
        return less(index(rng.choice(["arith.minui", "arith.maxui"]), d, number(rng.choice([3, 64, 100]))), number(rng.choice([3, 64, 100])), rng.choice(["ult", "eq", "uge"]))
    if kind == 12:
        return builder.compare(index(rng.choice(["math.ctlz", "math.cttz", "math.ctpop"]), rng.choice([d, index("arith.xori", "i", "j")])))
    reached = index(rng.choice(["arith.addi", "arith.subi"]), rng.choice("ij"), runtime())
    return less(reached, rng.choice(["i", "j", runtime()]), rng.choice(["slt", "sle", "sgt", "sge", "ult"]))


# --- Whole masks ------------------------------------------------------------------------------------------------------


def tried(builder: Builder, make) -> str | None:
    """What `make` builds; nothing where it is rejected each time."""
    for _ in range(4):
        try:
            return make(builder)
        except Rejected:
            continue
    return None


def random_condition(builder: Builder) -> str:
    """An i1 of random arithmetic."""
    rng = builder.rng
    kind = rng.random()
    if kind < 0.3:
        return idiom(builder)
    if kind < 0.5:
        return sugar(builder)
    for _ in range(rng.choice([1, 2, 3, 5, 8, 12])):
        tried(builder, random_integer_op)
    return condition_leaf(builder)


def random_mask(builder: Builder) -> Region:
    rng = builder.rng
    result = tried(builder, random_condition) or builder.emit("attn.causal", ["i", "j"], ["i1"])
    for _ in range(rng.choice([0, 0, 1, 1, 2, 4])):
        other = tried(builder, random_condition)
        if not other:
            continue
        if rng.random() < 0.08:
            joined = builder.emit("arith.select", [builder.pick("i1"), result, other], ["i1"])
        else:
            joined = builder.emit(rng.choice(["arith.andi", "arith.andi", "arith.ori", "arith.ori", "arith.xori"]), [result, other], ["i1"])
        # A mask that keeps next to nothing, or all, hides what is wrong with it.
        if 0.05 < builder.share(joined) < 0.97 or rng.random() < 0.1:
            result = joined
    if builder.share(result) < 0.03 and rng.random() < 0.9:
        other = builder.emit("attn.window", ["i", "j"], ["i1"], sides={"left": rng.randint(5, 90), "right": rng.choice([0, 20])})
        result = builder.emit(rng.choice(["arith.ori", "arith.xori"]), [result, other], ["i1"])
    return builder.finish(result)
