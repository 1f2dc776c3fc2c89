"""Random score regions: sums of bounded terms, caps, biases, and numbers that stand for "masked"."""

from __future__ import annotations

import functools
import math
import random

from builder import Builder, Rejected
from masks import cast, condition_leaf, far, random_condition, random_integer_op, tried
from scalars import width_of
from spec import Kernel, Load, Op, Region, Spec, tensor_type

# Unary operations and the values that they are given: all are continuous there.
_UNARY = {
    "math.exp": (-8, 3), "math.exp2": (-10, 4), "math.expm1": (-5, 3), "math.log": (0.1, 1e5), "math.log2": (0.1, 1e5),
    "math.log10": (0.1, 1e5), "math.log1p": (-0.8, 1e5), "math.sqrt": (0, 1e6), "math.rsqrt": (0.05, 1e6),
    "math.cbrt": (-1e5, 1e5), "math.sin": (-50, 50), "math.cos": (-50, 50), "math.tan": (-1.2, 1.2),
    "math.asin": (-0.9, 0.9), "math.acos": (-0.9, 0.9), "math.atan": (-1e4, 1e4), "math.sinh": (-4, 4),
    "math.cosh": (-4, 4), "math.tanh": (-1e3, 1e3), "math.asinh": (-1e4, 1e4), "math.acosh": (1.1, 1e4),
    "math.atanh": (-0.9, 0.9), "math.erf": (-8, 8), "math.erfc": (-2, 2), "math.absf": (-1e6, 1e6),
    "arith.negf": (-1e6, 1e6),
}
_ROUNDINGS = ("math.floor", "math.ceil", "math.trunc", "math.round", "math.roundeven")
_MASKED = (-1e30, -3.4028234663852886e38, -1e9, -5e9, -65504.0, -1e4, -1e38, -2e20, -1e7, -3e38)


def bounds(builder: Builder, name: str) -> tuple[float, float]:
    value = builder.value(name)
    return (float(value.min()), float(value.max())) if value.size else (0.0, 0.0)


def widen(builder: Builder, name: str) -> str:
    type_name = builder.types[name]
    return name if type_name == "f32" else builder.emit("arith.truncf" if type_name == "f64" else "arith.extf", [name], [type_name, "f32"])


def operate(builder: Builder, name: str, *operands: str, type_name: str = "f32", **more) -> str:
    return builder.emit(name, list(operands), [type_name], **more)


def tame(builder: Builder, name: str, most: float) -> str:
    """`name` scaled down so that it stays within `most`."""
    greatest = builder.greatest(name)
    if greatest <= most:
        return name
    factor = 1.0
    while greatest * factor > most:
        factor /= 2
    return operate(builder, "arith.mulf", name, builder.constant(factor, "f32"))


def from_integer(builder: Builder) -> str:
    """A float of an integer that varies."""
    rng = builder.rng
    for _ in range(rng.choice([0, 1, 2, 4])):
        tried(builder, random_integer_op)
    names = [name for name, type_name in builder.types.items() if type_name in ("i8", "i16", "i32", "i64", "i1")]
    if names and rng.random() < 0.6:
        name = rng.choice(names[-6:])
    else:
        source = rng.choice([name for name, type_name in builder.types.items() if type_name == "index"][-6:])
        name = cast(builder, source, rng.choice(["i32", "i32", "i64", "i16", "i8"]))
    type_name = builder.types[name]
    target = "f32"
    if width_of(type_name) <= 8 and rng.random() < 0.2:
        target = rng.choice(["f16", "bf16"])
    return widen(builder, builder.emit(rng.choice(["arith.sitofp", "arith.sitofp", "arith.uitofp"]), [name], [type_name, target]))


def bits_idiom(builder: Builder) -> str:
    """A float from 1 to 2, put together from the bits of an integer."""
    source = cast(builder, builder.pick("index"), "i32")
    low = builder.emit("arith.andi", [source, builder.constant(0x7FFFFF, "i32")], ["i32"])
    bits = builder.emit("arith.ori", [low, builder.constant(0x3F800000, "i32")], ["i32"])
    return builder.emit("arith.bitcast", [bits], ["i32", "f32"])


def leaf(builder: Builder) -> str:
    rng = builder.rng
    kind = rng.random()
    if kind < 0.35:
        return widen(builder, builder.load(rng.choice(["f32", "f32", "bf16", "f16"])))
    if kind < 0.65:
        return from_integer(builder)
    if kind < 0.69:
        return double(builder, "s")
    if kind < 0.73:
        return bits_idiom(builder)
    if kind < 0.8:
        return builder.add_scalar("f32", rng.choice([0.5, 1.0, -2.0, 0.1, 3.25, 1e-3]))
    if kind < 0.88:
        return "s"
    return builder.constant(rng.choice([0.5, 1.0, 2.0, -1.5, 0.1, 3.0, 0.0625, 1e-4]), "f32")


def double(builder: Builder, operand: str) -> str:
    """A function of `operand`, or of an integer, in f64."""
    rng = builder.rng
    emit = functools.partial(operate, builder, type_name="f64")
    if rng.random() < 0.3:
        source = cast(builder, builder.pick("index"), rng.choice(["i32", "i64", "i16"]))
        wide = builder.emit(rng.choice(["arith.sitofp", "arith.uitofp"]), [source], [builder.types[source], "f64"])
    else:
        wide = builder.emit("arith.extf", [operand], ["f32", "f64"])
    for _ in range(rng.randint(1, 3)):
        number = builder.constant(rng.choice([0.5, -0.25, 1.0, 3.0, 1e-3]), "f64")
        name = rng.choice(["arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.maximumf", "arith.minimumf", "arith.maxnumf",
                           "arith.minnumf", "math.fma", "math.clampf", "math.copysign", "math.sqrt", "math.absf", "arith.negf", "arith.select"])
        if name == "math.sqrt":
            wide = emit(name, emit("math.absf", wide))
        elif name in ("math.absf", "arith.negf"):
            wide = emit(name, wide)
        elif name == "math.fma":
            wide = emit(name, wide, number, builder.constant(rng.choice([0.125, -1.0]), "f64"))
        elif name == "math.clampf":
            wide = emit(name, wide, builder.constant(-2.0, "f64"), builder.constant(1.5, "f64"))
        elif name == "arith.select":
            wide = emit(name, condition_leaf(builder), wide, number)
        else:
            wide = emit(name, wide, number)
    return widen(builder, wide)


def node(builder: Builder, depth: int) -> str:
    rng = builder.rng
    if depth <= 0 or rng.random() < 0.2:
        return leaf(builder)
    kind = rng.random()
    if kind < 0.4:
        operand, name = node(builder, depth - 1), rng.choice(list(_UNARY))
        low, high = _UNARY[name]
        least, most = bounds(builder, operand)
        if least < low or most > high:
            # Into the domain: tanh where it reaches to both sides, else what is positive and bounded.
            operand = tame(builder, operand, 0.8 if min(-low, high) < 1 and low < 0 else min(high, 4.0))
            if bounds(builder, operand)[0] < low:
                operand = operate(builder, "math.absf", operand)
                operand = operate(builder, "arith.addf", operand, builder.constant(max(low, 0.0) + 0.125, "f32"))
        return operate(builder, name, operand)
    if kind < 0.5:
        exact = [name for name in builder.is_exact if builder.types[name] == "f32" and builder.varies(name)]
        operand = rng.choice(sorted(exact)) if exact else leaf(builder)
        halved = operate(builder, "arith.mulf", operand, builder.constant(rng.choice([0.5, 0.25, 0.125]), "f32"))
        return operate(builder, rng.choice(_ROUNDINGS), halved)
    if kind < 0.56:
        operand = tame(builder, node(builder, depth - 1), 100.0)
        narrow = rng.choice(["f16", "bf16"])
        rounded = builder.emit("arith.truncf", [operand], ["f32", narrow])
        if rng.random() < 0.5:
            rounded = operate(builder, rng.choice(["arith.addf", "arith.mulf", "arith.maximumf"]), rounded,
                              builder.constant(rng.choice([0.5, 1.5, 2.0]), narrow), type_name=narrow)
        return widen(builder, rounded)
    if kind < 0.62:
        return double(builder, tame(builder, node(builder, depth - 1), 1e4))
    if kind < 0.67:
        return operate(builder, "arith.select", random_float_test(builder), node(builder, depth - 1), node(builder, depth - 1))
    if kind < 0.7:
        return operate(builder, "arith.select", condition_leaf(builder), node(builder, depth - 1), node(builder, depth - 1))
    a, b = tame(builder, node(builder, depth - 1), 30.0), tame(builder, node(builder, depth - 1), 30.0)
    if kind < 0.74:
        return operate(builder, "math.fma", a, b, tame(builder, node(builder, depth - 1), 8.0))
    if kind < 0.78:
        low = builder.constant(rng.choice([-2.0, -0.5, 0.0]), "f32")
        return operate(builder, "math.clampf", a, low, builder.constant(rng.choice([0.25, 1.0, 5.0]), "f32"))
    name = rng.choice(["arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.maximumf", "arith.minimumf",
                       "arith.maxnumf", "arith.minnumf", "math.powf", "math.atan2", "math.copysign", "arith.remf"])
    if name in ("arith.divf", "math.powf", "math.atan2"):
        # A positive operand, away from 0.
        positive = operate(builder, "arith.addf", operate(builder, "math.absf", b), builder.constant(rng.choice([0.5, 1.0]), "f32"))
        if name == "math.powf":
            return operate(builder, name, tame(builder, positive, 8.0), tame(builder, a, 2.0))
        return operate(builder, name, a, positive)
    return operate(builder, name, a, b)


def random_float_test(builder: Builder) -> str:
    """A comparison of floats whose outcome no rounding changes."""
    rng = builder.rng
    if rng.random() < 0.1:
        return operate(builder, rng.choice(["math.isnan", "math.isinf", "math.isfinite"]), builder.pick("f32"))
    exact = [name for name in builder.is_exact if builder.types[name] == "f32"]
    name = rng.choice(sorted(exact)) if exact and rng.random() < 0.8 else builder.pick("f32")
    value = builder.value(name).reshape(-1)
    threshold = float(value[rng.randrange(value.size)]) if value.size else 0.0
    if rng.random() < 0.5:
        threshold += rng.choice([0.0625, -0.0625])
    predicate = rng.choice(["oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno", "olt", "oge", "true", "false"])
    return operate(builder, "arith.cmpf", name, builder.constant(threshold, "f32"), predicate=predicate)


def term(builder: Builder) -> str:
    """A number of moderate size, to add to a logit."""
    return tame(builder, node(builder, builder.rng.choice([0, 1, 1, 2, 3])), 2.0)


# --- Steps of a score -------------------------------------------------------------------------------------------------


def step(builder: Builder, current: str) -> str:
    """The score after one more step."""
    rng = builder.rng
    number = lambda value: builder.constant(value, "f32")
    kind = rng.random()
    if kind < 0.12:
        cap = rng.choice([5.0, 20.0, 30.0, 50.0])
        sides = {"cap": builder.add_scalar("f32", cap, "cap") if rng.random() < 0.4 else cap}
        if rng.random() < 0.15:
            # No cap for some heads.
            some = operate(builder, "arith.cmpi", "h", builder.constant(1, "index"), type_name="index", predicate="slt")
            both = [builder.constant(math.inf, "f32"), builder.constant(cap, "f32")]
            sides = {"cap": operate(builder, "arith.select", some, *rng.sample(both, 2))}
        return operate(builder, "attn.softcap", current, sides=sides)
    if kind < 0.22:
        load = builder.capture(rng.choice(["f32", "bf16", "f16"]), "positive", 1)
        if load.indices != ["h"]:
            raise Rejected("slopes are for heads")
        positions = [rng.choice([far(builder, position), position]) if rng.random() < 0.1 else position for position in "ij"]
        return operate(builder, "attn.alibi", current, *positions, loads=[load])
    if kind < 0.36:
        return operate(builder, "attn.bias", current, loads=[builder.capture(rng.choice(["f32", "bf16", "f16"]))])
    if kind < 0.4:
        element, like = rng.choice([("f32", "lowest"), ("bf16", "lowest"), ("f16", "lowest"), ("f32", "huge"), ("bf16", "huge")])
        return operate(builder, "attn.bias", current, loads=[builder.capture(element, like, rng.choice([1, 2, 4]))])
    if kind < 0.6:
        return operate(builder, rng.choice(["arith.addf", "arith.subf"]), current, term(builder))
    if kind < 0.66:
        return operate(builder, "arith.mulf", current, number(rng.choice([0.5, 2.0, -1.0, 0.3, 1.4426950408889634])))
    if kind < 0.7:
        factor = tame(builder, node(builder, 1), 2.0)
        return operate(builder, "arith.mulf", current, factor)
    if kind < 0.84:
        condition = tried(builder, random_condition) or builder.emit("attn.causal", ["i", "j"], ["i1"])
        other = number(rng.choice(_MASKED) if rng.random() < 0.9 else float("-inf"))
        if rng.random() < 0.35:
            other = operate(builder, "arith.addf", current, number(rng.choice([-1.0, 2.0, -5.0])))
        return operate(builder, "arith.select", condition, *rng.choice([(current, other), (current, other), (other, current)]))
    if kind < 0.9:
        name = rng.choice(["arith.maximumf", "arith.minimumf", "arith.maxnumf", "arith.minnumf"])
        return operate(builder, name, current, number(rng.choice([-3.0, -0.5, 0.5, 2.0, 10.0])))
    if kind < 0.95:
        # Leaky on one side: the two sides meet where the comparison steps.
        zero = number(0.0)
        scaled = operate(builder, "arith.mulf", current, number(0.25))
        return operate(builder, rng.choice(["arith.maximumf", "arith.minimumf"]), operate(builder, "arith.addf", scaled, zero), current)
    return operate(builder, "math.fma", current, number(rng.choice([0.5, 1.0, 1.5])), term(builder))


def random_score(builder: Builder) -> Region | None:
    rng, current = builder.rng, "s"
    for _ in range(rng.choice([1, 1, 2, 2, 3, 5])):
        for _ in range(4):
            try:
                current = step(builder, current)
                break
            except Rejected:
                continue
    if current == "s":
        return None
    return builder.finish(current)


def saturate(kernel: Kernel, steepness: float) -> None:
    """A steep sigmoid after the score: of some logits its exponential is infinite in f32, and its slope 0.

    The builder would reject the infinity, which a forward of the sigmoid bears.
    """
    region = kernel.score or Region(["s", "b", "h", "i", "j"], [], "s")
    constants = [Op(name, "arith.constant", [], ["f32"], value=value) for name, value in (("z0", -steepness), ("z1", 1.0))]
    operations = [("arith.mulf", region.result, "z0"), ("math.exp", "z2"), ("arith.addf", "z3", "z1"), ("arith.divf", "z1", "z4")]
    region.ops += constants + [Op(f"z{n + 2}", name, list(operands), ["f32"]) for n, (name, *operands) in enumerate(operations)]
    region.result, kernel.score = "z5", region


def read_learned(rng: random.Random, spec: Spec, kernel: Kernel, name: str, sizes: dict[str, tuple[int | None, int]]) -> list[int]:
    """Lets the score read a new captured tensor by coordinates, some of them of size 1: the tensor's shape.

    `sizes`: by "b", "h", "i" and "j", the size that a type gives to the axis, and what it is.
    """
    # Of packed sequences, the length of queries or keys is that of all together.
    axes = rng.sample("bhij", rng.randint(1, 4))
    computed = {axis: rng.choice([2, 3, 7, 8, 9, 17, 32, 65, 130]) for axis in "nm"}
    sizes = sizes | {axis: (size, size) for axis, size in computed.items()}
    kind = rng.random()
    if kind < 0.5:
        # A table by a computed index, or by two, or beside queries or keys.
        axes = rng.sample("nhb" if kind < 0.25 else "nmhbij", rng.randint(1, 3))
        if not {"n", "m"} & set(axes):
            axes[0] = "n"
    ones = [axis not in computed and rng.random() < 0.2 for axis in axes]
    shape = [1 if one else sizes[axis][1] for one, axis in zip(ones, axes)]
    typed = [1 if one else sizes[axis][0] if rng.random() < (0.8 if axis in computed else 0.5) else None for one, axis in zip(ones, axes)]
    element = rng.choice(["f32", "f32", "bf16", "f16"])
    spec.arguments[name] = tensor_type(typed, element)
    region = kernel.score or Region(["s", "b", "h", "i", "j"], [], "s")
    coordinates = dict(zip("bhij", region.arguments[-4:]))
    for axis in sorted({"n", "m"} & set(axes)):
        distance, step, one = f"{name}{axis}d", f"{name}{axis}c", f"{name}{axis}n"
        region.ops += [Op(distance, "arith.subi", rng.sample([coordinates["i"], coordinates["j"]], 2), ["index"]),
                       Op(step, "arith.constant", [], ["index"], value=rng.choice([1, 2, 5])),
                       Op(one, rng.choice(["arith.floordivsi", "arith.addi", "arith.muli"]), [distance, step], ["index"])]
        coordinates[axis] = one
    load, current = Load(name, [coordinates[axis] for axis in axes]), region.result
    if "n" in axes and rng.random() < 0.3:
        # Read once more, elsewhere.
        region.ops.append(Op(f"{name}s", "arith.addi", [coordinates["i"], coordinates["j"]], ["index"]))
        again = Load(name, [f"{name}s" if axis == "n" else coordinates[axis] for axis in axes])
        region.ops.append(Op(f"{name}b", "attn.bias", [current], ["f32"], loads=[again]))
        current = f"{name}b"
    if rng.random() < 0.5:
        region.ops.append(Op(f"{name}a", "attn.bias", [current], ["f32"], loads=[load]))
    elif axes == ["h"] and rng.random() < 0.5:
        region.ops.append(Op(f"{name}a", "attn.alibi", [current, *(coordinates[axis] for axis in "ij")], ["f32"], loads=[load]))
    else:
        # A factor of the logit, near 1.
        region.ops.append(Op(f"{name}w", "attn.load", [], [element], loads=[load]))
        wide = f"{name}w"
        if element != "f32":
            wide = f"{name}e"
            region.ops.append(Op(wide, "arith.extf", [f"{name}w"], [element, "f32"]))
        region.ops += [Op(f"{name}f", "math.exp", [wide], ["f32"]), Op(f"{name}a", "arith.mulf", [current, f"{name}f"], ["f32"])]
    region.result, kernel.score = f"{name}a", region
    return shape


def multiply_learned(spec: Spec, kernel: Kernel, name: str, is_tensor: bool) -> None:
    """Multiplies the score with a new scalar, or a tensor without dimensions, near 1."""
    spec.arguments[name] = "tensor<f32>" if is_tensor else "f32"
    region = kernel.score or Region(["s", "b", "h", "i", "j"], [], "s")
    number = f"{name}w" if is_tensor else name
    if is_tensor:
        region.ops.append(Op(number, "attn.load", [], ["f32"], loads=[Load(name, [])]))
    region.ops += [Op(f"{name}f", "math.exp", [number], ["f32"]), Op(f"{name}a", "arith.mulf", [region.result, f"{name}f"], ["f32"])]
    region.result, kernel.score = f"{name}a", region
