"""Schedules of a spec's own: how a kernel is tiled and ordered, drawn for one kind of machine.

A schedule changes speed and not meaning: it is refused with its place in the spec, or the kernel gives what the reference
gives. Most of those drawn here suit the machine; some do not, by one number.
"""

from __future__ import annotations

import dataclasses
import random
import re
from collections.abc import Iterator

Field = int | bool | str

_SHARED_BYTES = {"sm_90a": 232448, "sm_80": 166912}
_REGISTERS = 65536
# What fields of a pipeline become when a schedule is made plain, from the most telling on.
_PLAIN: dict[str, tuple[Field, ...]] = {
    "consumers": (1, 2), "stages": (2, 1), "query_stages": (1,), "capture_stages": (1,), "headroom": (0,), "section_bytes": (0,),
    "epilogue": ("direct",), "rescaling": ("each_step",),
}

# What hardly any machine can have.
_WRONG: dict[str, list[Field]] = {
    "query_tile": [0, 1, 24, 63, 65, 1 << 20, 1 << 33, 1 << 62], "key_tile": [0, 1, 4, 12, 100, 257, 272, 1 << 20, 1 << 62],
    "panel": [0, 1, 4, 7, 16, 32, 128], "heads": [0, 2, 3, 5, 64, 128],
}
_WRONG_PIPELINE: dict[str, list[Field]] = {
    "consumers": [0, 1, 3, 5, 9, 1 << 40, 1 << 62], "stages": [0, 33, 1 << 20, 1 << 40, 1 << 62], "query_stages": [0, 9, 33, 1 << 40, 1 << 62],
    "producer_registers": [0, 8, 16, 25, 240, 248, 1 << 62], "consumer_registers": [0, 24, 40, 236, 256, 1 << 62],
    "headroom": [6, 40, 61, 1000], "section_bytes": [(1 << 63) - 1], "kind": ["roles", "warps"], "epilogue": ["staged", "slabs"],
    "rescaling": ["on_growth", "on_overflow"], "split_floats": [True], "early": [True], "ping_pong": [True], "dynamic": [True],
}


@dataclasses.dataclass
class Schedule:
    """One `#attn.schedule`: its fields by name, and those of its pipeline, of which `kind` says what it is."""

    fields: dict[str, Field]
    pipeline: dict[str, Field]

    def text(self) -> str:
        write = lambda fields: ", ".join(f"{name} = {_write(value)}" for name, value in fields.items() if name != "kind")
        pipeline = f", pipeline = #attn.{self.pipeline['kind']}<{write(self.pipeline)}>" if self.pipeline else ""
        return f"#attn.schedule<{write(self.fields)}{pipeline}>"

    def copy(self) -> Schedule:
        return Schedule(dict(self.fields), dict(self.pipeline))

    def plainer(self) -> Iterator[Schedule]:
        """With one field less, or as it is in a plain schedule."""
        for name, value in self.pipeline.items():
            for plain in (None,) if value is True else _PLAIN.get(name, ()):
                if plain == value:
                    break
                other = self.copy()
                if plain is None:
                    del other.pipeline[name]
                else:
                    other.pipeline[name] = plain
                if name == "consumers":
                    other.fields["query_tile"] = int(other.fields["panel"]) * int(other.pipeline[name])
                yield other
        if self.pipeline and self.fields.get("panel") == 128:
            other = self.copy()
            other.fields |= {"query_tile": int(other.fields["query_tile"]) // 2, "panel": 64}
            yield other
        if self.fields.get("heads", 1) != 1:
            other = self.copy()
            del other.fields["heads"]
            yield other


def _write(value: Field) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _read(text: str) -> dict[str, Field]:
    fields: dict[str, Field] = {}
    for name, value in re.findall(r"(\w+) = (<[^<>]*>|\w+)", text):
        fields[name] = value == "true" if value in ("true", "false") else int(value) if value.isdigit() else value
    return fields


def parse_schedules(text: str) -> list[Schedule]:
    """What `Schedule.text` wrote, for one or more with commas between them."""
    schedules = []
    for one in re.findall(r"#attn\.schedule<((?:[^<>]|<[^<>]*>)*)>", text):
        head, kind, pipeline = re.fullmatch(r"(.*?)(?:pipeline = #attn\.(\w+)<(.*))?", one).groups()
        schedules.append(Schedule(_read(head), {"kind": kind} | _read(pipeline) if kind else {}))
    return schedules


# --- Drawing ----------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Problem:
    """What a schedule depends on."""

    machine: str  # cpu, sm_80, sm_90a
    element: str
    dim: int
    value_dim: int  # 0 for weights
    group: int
    queries: int
    page_rows: int = 0  # of pages that keys lie in
    captures: bool = False  # tensors of 16 bits and two dimensions or more


def machine_of(target: str) -> str:
    """The kind of machine that a target is; none where there are no schedules."""
    machine = target.rpartition(":")[2]
    return machine if machine in ("cpu", *_SHARED_BYTES) else ""


def draw_schedules(rng: random.Random, problem: Problem) -> list[Schedule]:
    """One schedule, or several for launches of different sizes."""
    count = rng.choice([2, 2, 3]) if rng.random() < 0.15 else 1
    schedules = [_draw_cpu(rng, problem) if problem.machine == "cpu" else _draw_gpu(rng, problem) for _ in range(count)]
    for schedule in schedules:
        if rng.random() < 0.25:
            _split(rng, schedule)
    if rng.random() < 0.08:
        _spoil(rng, rng.choice(schedules))
    # The last is for what those before it leave.
    for schedule in schedules[:-1]:
        schedule.fields["when"] = _draw_sizes(rng, problem)
    return schedules


def _draw_sizes(rng: random.Random, problem: Problem) -> str:
    """Launches, by some of their sizes: near those of the problem, or of others."""
    near = {
        "queries": [16, 64, problem.queries - 1, problem.queries, problem.queries + 1],
        "keys": [1, 16, 64, 100, 200],
        "batch": [1, 2, 3],
        "query_heads": [1, 2, 8],
        "all_heads": [1, 4, 16],
    }
    ranges = []
    for size in sorted(rng.sample(list(near), rng.choice([1, 1, 2, 3])), key=list(near).index):
        least, most = sorted(max(0, rng.choice(near[size])) for _ in range(2))
        ranges.append(f"{size} = " + rng.choice([f"from {max(1, least)}", f"to {most}", f"{least} to {most}", f"{least}"]))
    return f"<{', '.join(ranges)}>"


def _split(rng: random.Random, schedule: Schedule) -> None:
    """Has tiles go over parts of their keys."""
    name, counts = rng.choice([("splits", [1, 2, 3, 7, 40]), ("split_blocks", [1, 8, 33, 264])])
    schedule.fields[name] = rng.choice(counts)
    if not schedule.pipeline:
        return
    schedule.fields["query_tile"] = schedule.fields["panel"]
    schedule.pipeline |= {"consumers": 1} | ({"epilogue": "direct"} if "epilogue" in schedule.pipeline else {})
    for unsplit in ("headroom", "block_mask", "early", "capture_stages"):
        schedule.pipeline.pop(unsplit, None)
    if schedule.pipeline.get("rescaling") == "on_overflow":
        schedule.pipeline["rescaling"] = "on_growth"


def _draw_heads(rng: random.Random, problem: Problem) -> dict[str, Field]:
    """Heads of a group that tiles hold together, if any. A score or mask that tells heads apart refuses them."""
    if rng.random() >= 0.4:
        return {}
    return {"heads": rng.choice([1 << n for n in range((problem.group & -problem.group).bit_length())])}


def _draw_cpu(rng: random.Random, problem: Problem) -> Schedule:
    # One to three registers of eight or sixteen lanes: each machine refuses a few.
    panel = rng.choice([8, 16, 16, 24, 32, 48, 48])
    tiles = rng.choice([1, 1, 2, 3, 5, 10, 10, 20])
    keys = rng.choice([8, 16, 24, 32, 40, 64, 64, 72, 96, 128, 200, 256])
    return Schedule({"query_tile": panel * tiles, "key_tile": keys, "panel": panel} | _draw_heads(rng, problem), {})


def _draw_gpu(rng: random.Random, problem: Problem) -> Schedule:
    by_tma = problem.machine == "sm_90a" and problem.element != "f32" and problem.page_rows % 8 == 0 and rng.random() < 0.85
    while True:
        schedule = _draw_tma(rng, problem) if by_tma else _draw_cp_async(rng, problem)
        if _bytes_of(schedule, problem) <= _SHARED_BYTES[problem.machine] or rng.random() < 0.04:
            return schedule


def _draw_tiles(rng: random.Random, problem: Problem, consumers: int, panel: int = 64) -> dict[str, Field]:
    # Many short ones: few keys then take several steps.
    keys = rng.choice([16, 16, 16, 32, 32, 32, 48, 64, 64, 80, 96, 128, 160, 240, 256])
    fields: dict[str, Field] = {"query_tile": panel * consumers, "key_tile": keys, "panel": panel}
    return fields | _draw_heads(rng, problem)


def _flags(rng: random.Random, pipeline: dict[str, Field], odds: dict[str, float]) -> None:
    for name, share in odds.items():
        if rng.random() < share:
            pipeline[name] = True


def _draw_tma(rng: random.Random, problem: Problem) -> Schedule:
    consumers = rng.choices([1, 2, 3, 4], [0.25, 0.4, 0.3, 0.05])[0]
    pipeline: dict[str, Field] = {
        "kind": "roles", "consumers": consumers, "stages": rng.choice([1, 2, 2, 2, 3, 4, 5]), "query_stages": rng.choice([1, 1, 2, 2, 3]),
    }
    # Registers that all threads start with, in eights, are what roles exchange.
    at_start = _REGISTERS // 128 // (consumers + 1) // 8 * 8
    while True:
        producer, registers = rng.choice([24, 24, 32, 40, 56, 80]), rng.choice([240, 240, 232, 208, 184, 160, 160, 152, 128, 112, 96])
        if producer + consumers * registers <= (consumers + 1) * at_start:
            break
    pipeline |= {"producer_registers": producer, "consumer_registers": registers}
    if (kind := rng.random()) < 0.75:
        pipeline["rescaling"] = "on_growth" if kind < 0.25 else "on_overflow"
    _flags(rng, pipeline, {"own_keys": 0.4, "ping_pong": 0.5, "by_row": 0.5})
    pipeline["epilogue"] = rng.choice(["staged", "slabs", "direct"])
    _flags(rng, pipeline, {"dynamic": 0.6})
    if rng.random() < 0.3:
        pipeline["section_bytes"] = rng.choice([1, 4096, 65536, 1 << 20, 31457280, 1 << 40])
    _flags(rng, pipeline, {"block_mask": 0.4, "early": 0.3})
    if pipeline.get("rescaling") == "on_overflow" and rng.random() < 0.6:
        # f16 has 15 octaves above 1, and fewer below that keep their digits.
        pipeline["headroom"] = rng.choice([1, 3, 6, 6, 8, 10] if problem.element == "f16" else [1, 6, 20, 40, 40, 60])
    if rng.random() < (0.7 if problem.captures else 0.01):
        pipeline["capture_stages"] = rng.choice([1, 1, 2, 2, 3])
        for other in ("own_keys", "block_mask"):
            pipeline.pop(other, None)
    if "block_mask" not in pipeline:
        _flags(rng, pipeline, {"batch_inside": 0.2})
    while True:
        tiles = _draw_tiles(rng, problem, consumers)
        # A product has half a register for each column, and some beside.
        if int(tiles["key_tile"]) // 2 + 26 <= at_start or rng.random() < 0.02:
            return Schedule(tiles, pipeline)


def _draw_cp_async(rng: random.Random, problem: Problem) -> Schedule:
    consumers = rng.choices([1, 2, 4, 8], [0.5, 0.25, 0.15, 0.1])[0]
    pipeline: dict[str, Field] = {"kind": "warps", "consumers": consumers, "stages": rng.choice([1, 1, 2, 2, 3, 4])}
    if rng.random() < 0.5:
        pipeline["rescaling"] = "on_growth"
    _flags(rng, pipeline, {"by_row": 0.3})
    if rng.random() < 0.3:
        pipeline["section_bytes"] = rng.choice([1, 4096, 65536, 31457280])
    _flags(rng, pipeline, {"block_mask": 0.4, "early": 0.3 if problem.machine == "sm_90a" else 0.03})
    # Of products that are exact: others refuse it now and then.
    _flags(rng, pipeline, {"split_floats": 0.6 if problem.element == "f32" else 0.01})
    if problem.element != "f32" and problem.value_dim and rng.random() < 0.35:
        return _draw_shared_rows(rng, problem, pipeline)
    return Schedule(_draw_tiles(rng, problem, consumers, rng.choice([64, 128])), pipeline)


def _draw_shared_rows(rng: random.Random, problem: Problem, pipeline: dict[str, Field]) -> Schedule:
    """Warps that have the same rows, and some of the columns each: a power of two of them."""
    consumers, rows, panel = rng.choice([(2, 128, 128), (2, 64, 64), (4, 64, 64), (4, 128, 128)])
    parts = consumers * panel // rows
    suits = lambda columns: columns % parts == 0 and columns // parts >= 16 and (columns // parts).bit_count() == 1
    if not suits(problem.value_dim) and rng.random() < 0.95:
        return Schedule(_draw_tiles(rng, problem, int(pipeline["consumers"]), rng.choice([64, 128])), pipeline)
    pipeline["consumers"] = consumers
    _flags(rng, pipeline, {"weights_ahead": 0.6})
    keys = rng.choice([keys for keys in (32, 64, 128) if suits(keys)])
    return Schedule({"query_tile": rows, "key_tile": keys, "panel": panel} | _draw_heads(rng, problem), pipeline)


def _bytes_of(schedule: Schedule, problem: Problem) -> int:
    """Shared memory that tiles take, and barriers at most."""
    def rows(count: Field, tile: Field, dim: int) -> int:
        size = 4 if problem.element == "f32" else 2
        return int(count) * int(tile) * ((dim * size + 127) // 128 * 128)

    fields, pipeline = schedule.fields, schedule.pipeline
    output = {"direct": 0, "slabs": min(64, problem.value_dim)}.get(str(pipeline.get("epilogue", "direct")), problem.value_dim)
    total = 1024 + rows(pipeline.get("query_stages", 1), fields["query_tile"], problem.dim)
    if pipeline.get("split_floats"):
        total += sum(3 * int(fields["key_tile"]) * ((2 * dim + 127) // 128 * 128) for dim in (problem.dim, problem.value_dim))
    total += rows(pipeline["stages"], fields["key_tile"], problem.dim) + rows(pipeline["stages"], fields["key_tile"], problem.value_dim)
    if int(fields["panel"]) * int(pipeline["consumers"]) > int(fields["query_tile"]):
        total += 4096 + rows(2 if pipeline.get("weights_ahead") else 1, fields["query_tile"], int(fields["key_tile"]))
    total += rows(pipeline.get("capture_stages", 0), fields["query_tile"], int(fields["key_tile"]))
    return total + rows(1, fields["query_tile"], output)


def _spoil(rng: random.Random, schedule: Schedule) -> None:
    """Makes one field one that no machine, or few, can have."""
    place, wrong = schedule.fields, _WRONG
    if schedule.pipeline and rng.random() < 0.7:
        place, wrong = schedule.pipeline, _WRONG_PIPELINE
    name = rng.choice(list(wrong))
    place[name] = rng.choice(wrong[name])


def random_schedules(seed: str, problem: Problem, share: float) -> list[Schedule]:
    """Schedules for about `share` of all kernels."""
    rng = random.Random(f"{seed}/{problem.machine}/schedule")
    return draw_schedules(rng, problem) if rng.random() < share else []
