#!/usr/bin/env python3
"""Fuzzes attnc as a whole process: the text of specs, the files beside them, and the command line.

process_fuzzer [-max_total_time=SECONDS] [-timeout=SECONDS] [-rss_limit_mb=MB] [-seed=N] [-runs=N]
               [-artifact_prefix=PREFIX] [FOLDER...]     fuzzes, from the specs in FOLDER besides the examples
process_fuzzer FILE                                      does again what FILE keeps

The options are libFuzzer's, so that tools/dev runs this as it runs the others. The program is the attnc that lies in
this file's folder, or the one that ATTNC names. Whatever it is given, it must end in time, by itself and with a status
of 0, 1 or 2; say why where that is 2, in text that a terminal can take; leave every file as it was then; and leave no
temporary file in any case.
"""

import base64
import json
import os
import random
import re
import resource
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(sys.argv[0]))
SOURCES = os.path.dirname(os.path.realpath(__file__))
ATTNC = os.environ.get("ATTNC") or os.path.join(HERE, "attnc")
EXAMPLES = os.path.join(SOURCES, "..", "..", "docs", "examples")

# --- What is tried ---------------------------------------------------------------------------------------------------

NUMBERS = ["0", "1", "2", "7", "64", "-1", "1023", "2147483647", "4294967296", "9223372036854775807",
           "9223372036854775808", "0.0", "-0.0", "1e38", "1e400", "0x7FC00000", "nan", "?"]
WORDS = ["%q", "%k", "%v", "%s", "%b", "%h", "%i", "%j", "%keep", "f32", "bf16", "f64", "i1", "i64", "index",
         "i16777215", "tensor<?xf32>", "tensor<2x2xf32, \"x\">", "tensor<*xf32>", "none", "loc(unknown)",
         "attn.load", "attn.weights", "attn.causal", "attn.window", "attn.softcap", "attn.load_range", "arith.divsi",
         "arith.remui", "arith.shrsi", "math.exp", "math.clampf", "arith.select", "arith.constant", "func.func",
         "module", "scale(", "sinks(", "lengths(", "varlen(", "align(top_left)", "q_offset(%i)", "dropout(1.5, %s)",
         "schedule(#attn.schedule<query_tile = 16, key_tile = 64, panel = 16>)", "#attn.schedule<query_tile = 0>",
         "bounds (%b, %h, %x, %y) {}", "blocks (%b, %h, %x, %y, %z, %w) {}", "affine_map<(d0) -> (d0)>",
         "dense<0> : tensor<4xi32>", "{a = 1}", "{attn.name = \"\\1B[31m\"}", "loc(\"/dev/zero\":1:1)", "->", "::", "\""]
BRACKETS = ["()", "[]", "{}", "<>", ("tuple<", ">"), ("module {", "}"), ("loc(callsite(", "))"), ("{a = ", "}")]
SHAPES = ["B=1,Sq=5,Sk=7", "B=2,Sq=33,Sk=31", "B=1,Sq=0,Sk=4", "B=0,Sq=3,Sk=3", "B=1,Sq=17,Sk=0", "B=2,Tq=20,Tk=24",
          "B=1,Sq=1099511627776,Sk=1", "B=99999999999999999999,Sq=1,Sk=1", "B=-1,Sq=2,Sk=2", "B=1,B=1", "Sq", "=", ",,",
          "B=1099511627776,Sq=0,Sk=0", "B=1,Sq=3,Sk=4,S=5"]
DIMS = ["q.3=8", "q.0=2", "q.9=1", "bias.0=1", "x.0=5", "table.0=1099511627776", "q.-1=1", ".=", "q=3", "q.0=-1"]
TARGETS = ["auto", "cpu", "reference", "nvptx:sm_90a", "nvptx:sm_80", "nvptx:sm_1", "nvptx:", "gpu", "", "sim:sm_80"]
EMITS = ["attn", "tile", "nvvm", "llvm", "asm", "ptx", "image", "pdf", ""]
SCHEDULES = ["#attn.schedule<query_tile = 16, key_tile = 64, panel = 16>", "#attn.schedule<query_tile = 16>", "[]", "7",
             "#attn.schedule<query_tile = {}, key_tile = {}, panel = {}>", "[" * 6000, "[" * 6000 + "]" * 6000, "\x1b[2J",
             "#attn.schedule<query_tile = {}, key_tile = {}, panel = {}, when = <queries = {} to {}, keys = from {}>, heads = {}>",
             "#attn.schedule<query_tile = 128, key_tile = 64, panel = 64, pipeline = #attn.warps<consumers = {}, stages = {}>>"]
PLACES = ["out", "old", "link", "hanging", "spec.mlir", "in.safetensors", "folder", "no/where", "", ".", "a%b", "x" * 300,
          "hard", "full"]


def extreme(rng):
    """A number of a few digits, or one that is none."""
    return str(rng.choice([0, 1, 2, 8, 16, 24, 64, 100, 256, -1, 1 << 31, 1 << 40, (1 << 63) - 1, 1 << 64]))


def replace_word(rng, text):
    words = list(re.finditer(r"[%\w.?#!@-]+", text))
    if not words:
        return text
    word = rng.choice(words)
    other = rng.choice([rng.choice(words).group(), rng.choice(WORDS), rng.choice(NUMBERS)])
    return text[:word.start()] + other + text[word.end():]


def insert_word(rng, text):
    place = rng.randrange(len(text) + 1)
    return text[:place] + " " + rng.choice(WORDS + NUMBERS) + " " + text[place:]


def edit_lines(rng, text):
    lines = text.split("\n")
    line = rng.randrange(len(lines))
    if rng.random() < 0.5:
        del lines[line]
    else:
        lines.insert(rng.randrange(len(lines) + 1), lines[line])
    return "\n".join(lines)


def nest(rng, text):
    opening, closing = rng.choice(BRACKETS)
    depth = rng.choice([3, 60, 70, 5000, 100000])
    place = rng.randrange(len(text) + 1)
    close = closing * (depth if rng.random() < 0.7 else 0)
    return text[:place] + opening * depth + rng.choice(["", "i32", "1"]) + close + text[place:]


def chain(rng, text):
    """Makes a region long: by one value after another."""
    match = re.search(r"(mask|score) \((%s, )?%b, %h, %i, %j\) \{\n", text)
    if not match:
        return text
    count = rng.choice([10, 300, 1100, 20000])
    step = rng.choice(["arith.addi %{}, %i : index", "arith.addi %{0}, %{0} : index", "arith.minsi %{}, %j : index"])
    lines = "".join("  %x{} = {}\n".format(n + 1, step.format("x" + str(n))) for n in range(count))
    return text[:match.end()] + "  %x0 = arith.addi %i, %j : index\n" + lines + text[match.end():]


def alias(rng, text):
    count, name = rng.choice([3, 30, 3000]), rng.choice("#!")
    value = {"#": "[{0}, {0}]", "!": "tuple<{0}, {0}>"}[name]
    first = {"#": "[1]", "!": "i32"}[name]
    lines = [name + "a0 = " + first] + [
        "{}a{} = {}".format(name, n, value.format(name + "a" + str(n - 1))) for n in range(1, count)]
    use = "func.func @unused() attributes {{a = {}a{}}} {{ return }}\n".format(name, count - 1)
    return "\n".join(lines) + "\n" + use + text


def lengthen(rng, text):
    place = rng.randrange(len(text) + 1)
    piece = rng.choice([" ", "1", "x", "// ", "\"", "1x", "é", "\t", "%a, ", "+ d0 "])
    return text[:place] + piece * rng.choice([100, 5000, 300000]) + text[place:]


def flip_bytes(rng, data):
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 3, 20])):
        if data:
            data[rng.randrange(len(data))] = rng.choice([0, 27, 127, 155, 255, rng.randrange(256)])
    return bytes(data)


def make_spec(rng, seeds):
    text = rng.choice(seeds)
    for _ in range(rng.choice([0, 1, 1, 2, 4])):
        change = rng.choice([replace_word] * 6 + [insert_word] * 4 + [edit_lines] * 4 + [nest, chain, alias, lengthen])
        text = change(rng, text)[:5 << 20]
    data = text.encode()
    if rng.random() < 0.1:
        data = flip_bytes(rng, data)
    if rng.random() < 0.03:
        data = text.encode("utf-16") if rng.random() < 0.5 else b"ML\xefR" + data
    return data


def make_tensors(rng, spec):
    """A .safetensors file that fits the arguments of the spec more or less."""
    sizes = {"f32": 4, "bf16": 2, "f16": 2, "f64": 8, "i1": 1, "i8": 1, "i32": 4, "i64": 8, "index": 8}
    names = {"f32": "F32", "bf16": "BF16", "f16": "F16", "f64": "F64", "i1": "BOOL", "i8": "I8", "i32": "I32",
             "i64": "I64", "index": "I64"}
    entries, begin = {}, 0
    pattern = r"(?:tensor<((?:[\d?]+x)*)(\w+)>|(\w+)) \{attn\.name = \"([^\"]*)\"\}"
    for dims, element, scalar, name in re.findall(pattern, spec[:6000].decode(errors="replace"))[:20]:
        kind = element or scalar
        shape = [3 if size == "?" else min(int(size), 4096) for size in dims.split("x") if size]
        if kind not in sizes or len(shape) > 5:
            continue
        count = 1
        for size in shape:
            count *= size
        if count > 1 << 18:
            continue
        entries[name] = {"dtype": names[kind], "shape": shape, "data_offsets": [begin, begin + count * sizes[kind]]}
        begin += count * sizes[kind]
    header = json.dumps(entries).encode()
    data = struct.pack("<Q", len(header)) + header + bytes(begin)
    if rng.random() < 0.3:
        cut = rng.randrange(min(len(data), 4096))
        data = data[:cut] if rng.random() < 0.3 else flip_bytes(rng, data[:4096]) + data[4096:]
    return data


def make_arguments(rng):
    command = rng.choice(["compile", "compile", "run", "explain", "verify", "verify"])
    out = rng.choice(["out", "out", "old"] + PLACES)
    arguments = ["spec.mlir" if rng.random() < 0.97 else rng.choice(["-", "folder", "gone", "pipe", "in.safetensors"])]
    if command == "compile":
        arguments += ["--emit", rng.choice(["ptx", "image", "attn"] + EMITS)]
        arguments += rng.choice([["-o", out], ["-o" + out], []])
    elif command == "run":
        arguments += ["--inputs", rng.choice(["in.safetensors"] * 9 + ["pipe"]), "--outputs", out]
        arguments += ["--check"] if rng.random() < 0.3 else []
    else:
        arguments += ["--shape", rng.choice(SHAPES[:2] * 4 + SHAPES)]
        arguments += ["--dim", rng.choice(DIMS)] if rng.random() < 0.1 else []
        arguments += ["--svg", out] if command == "explain" and rng.random() < 0.5 else []
    if rng.random() < 0.4:
        arguments += ["--target", rng.choice(TARGETS[:3] * 2 + TARGETS)]
    if rng.random() < 0.15:
        schedule = rng.choice(SCHEDULES)
        arguments += ["--schedule", schedule.format(*(extreme(rng) for _ in range(7)))]
    if rng.random() < 0.25:
        place = rng.randrange(len(arguments) + 1)
        arguments[place:place] = rng.choice(
            [["--help"], ["--entry"], ["--entry", "nobody"], ["--seed", extreme(rng)], ["--rows", extreme(rng)], ["--"],
             ["--shpe"], ["--json"], ["--emit="], ["--scale-values", "1e400"], [""], ["\x1b[31m"], ["@spec.mlir"],
             ["-"], ["-o"], ["x" * 5000], ["--" + "y" * 5000], rng.sample(arguments, 1), rng.sample(arguments, 1)])
    if rng.random() < 0.05:
        del arguments[rng.randrange(len(arguments))]
    return [command if rng.random() < 0.99 else rng.choice(["verfy", "", "help", "--version", "\x07"])] + arguments


def make_case(rng, seeds):
    spec = make_spec(rng, seeds)
    return {
        "arguments": make_arguments(rng),
        "spec": spec,
        "tensors": make_tensors(rng, spec),
        # What standard output is: read to its end, closed, a pipe that nobody reads, or a full device.
        "stdout": rng.choice(["read"] * 12 + ["closed", "broken", "full"]),
        "file_limit": rng.choice([None] * 14 + [0, 4096]),
    }


# --- Trying it -------------------------------------------------------------------------------------------------------


def fill(folder, case):
    """Makes what a case finds in its folder."""
    def path(name):
        return os.path.join(folder, name)

    for name, data in (("spec.mlir", case["spec"]), ("in.safetensors", case["tensors"]), ("old", b"old")):
        with open(path(name), "wb") as file:
            file.write(data)
    os.mkdir(path("folder"))
    os.symlink("old", path("link"))
    os.symlink("target", path("hanging"))
    os.link(path("spec.mlir"), path("hard"))
    os.mkfifo(path("pipe"))
    os.symlink("/dev/full", path("full"))


def look(folder):
    """What is in a folder: the kind of each entry, and what it holds."""
    found = {}
    for name in os.listdir(folder):
        info = os.lstat(os.path.join(folder, name))
        content = None
        if stat.S_ISREG(info.st_mode):
            with open(os.path.join(folder, name), "rb") as file:
                content = file.read()
        elif stat.S_ISLNK(info.st_mode):
            content = os.readlink(os.path.join(folder, name))
        found[name] = (stat.S_IFMT(info.st_mode), content)
    return found


def limit_process(options, case):
    def limit():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (options["timeout"] + 5, options["timeout"] + 10))
        if options["limit_memory"]:
            resource.setrlimit(resource.RLIMIT_AS, (options["rss_limit_mb"] << 20,) * 2)
        if case["file_limit"] is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (case["file_limit"],) * 2)
        if case["stdout"] == "closed":
            os.close(1)
    return limit


def execute(options, case, folder):
    """Runs a case; its status, and what it wrote to standard error. A status of None is out of time."""
    with tempfile.TemporaryFile() as errors, open(os.devnull, "rb") as nothing, open("/dev/full", "wb") as full:
        reader, writer = os.pipe()
        os.close(reader)
        stdout = {"read": subprocess.DEVNULL, "closed": subprocess.DEVNULL, "broken": writer, "full": full}
        # Messages go to a file, which a limit on files would cut.
        stderr = errors if case["file_limit"] is None else subprocess.PIPE
        process = subprocess.Popen([ATTNC] + case["arguments"], cwd=folder, stdin=nothing, stderr=stderr,
                                   stdout=stdout[case["stdout"]], preexec_fn=limit_process(options, case))
        os.close(writer)
        try:
            _, text = process.communicate(timeout=options["timeout"])
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return None, b""
        if text is None:
            errors.seek(0)
            text = errors.read()
        return process.returncode, text


def judge(case, status, text, before, after):
    """What is wrong with how a case ended, or None."""
    # Files that the command may be told to write.
    writable = {"old", "hanging"} | (set() if "run" in case["arguments"] else {"in.safetensors"})
    if status is None:
        return "it did not end in time"
    if status < 0:
        return "ended by signal {}".format(signal.Signals(-status).name)
    if status not in (0, 1, 2):
        return "unexpected status {}".format(status)
    if status == 2 and not text:
        return "failed without a word"
    if re.search(rb"[\x00-\x08\x0b-\x1f\x7f]", text):
        return "control characters in a message"
    if b"fault of attnc" in text or b"Stack dump" in text:
        return "a fault of the compiler"
    if max(map(len, text.split(b"\n"))) > 10000:
        return "a message without end"
    if status == 2 and before != after:
        return "failed, and changed {}".format(sorted(n for n in before.keys() | after.keys()
                                                      if before.get(n) != after.get(n)))
    if any(name.startswith(".attnc") for name in after):
        return "left a temporary file"
    if any(after.get(name) != before[name] for name in before if name not in writable):
        return "changed what it was not told to write"
    return None


def attempt(options, case):
    with tempfile.TemporaryDirectory(prefix="attnc-fuzz-") as folder:
        fill(folder, case)
        before = look(folder)
        status, text = execute(options, case, folder)
        return judge(case, status, text, before, look(folder)), text


def encode(case):
    return {key: base64.b64encode(value).decode() if isinstance(value, bytes) else value for key, value in case.items()}


def decode(kept):
    return dict(kept, spec=base64.b64decode(kept["spec"]), tensors=base64.b64decode(kept["tensors"]))


def report(case, reason, text):
    print("attnc " + " ".join(map(repr, case["arguments"])), "stdout:", case["stdout"], "file_limit:",
          case["file_limit"])
    print(text[:4000].decode(errors="backslashreplace"))
    print("==> " + reason)


def replay(options, path):
    with open(path) as file:
        case = decode(json.load(file))
    reason, text = attempt(options, case)
    report(case, reason or "nothing wrong", text)
    return 1 if reason else 0


def fuzz(options, folders):
    paths = [os.path.join(folder, name) for folder in [EXAMPLES] + folders for name in sorted(os.listdir(folder))]
    seeds = [open(path).read() for path in paths if path.endswith(".mlir")]
    print("seed", options["seed"], "specs", len(seeds), flush=True)
    end = time.monotonic() + options["max_total_time"]
    count = 0
    while time.monotonic() < end and count != options["runs"]:
        case = make_case(random.Random("{}/{}".format(options["seed"], count)), seeds)
        count += 1
        reason, text = attempt(options, case)
        if reason:
            report(case, reason, text)
            path = "{}crash-{}-{}".format(options["artifact_prefix"], options["seed"], count)
            with open(path, "w") as file:
                json.dump(encode(case), file)
            print("Test unit written to " + path)
            return 1
    print("stat::number_of_executed_units:", count)
    print("stat::peak_rss_mb:", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10)
    return 0


def memory_can_be_limited(megabytes):
    """Not under AddressSanitizer, whose shadow takes terabytes of addresses."""
    size = (megabytes << 20,) * 2
    done = subprocess.run([ATTNC, "--version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, size))
    return done.returncode == 0


def main():
    options = {"max_total_time": 60, "timeout": 60, "rss_limit_mb": 4096, "seed": int(time.time()), "runs": -1}
    options["artifact_prefix"] = ""
    rest = []
    for argument in sys.argv[1:]:
        match = re.fullmatch(r"-(\w+)=(.*)", argument)
        if not match:
            rest.append(argument)
        elif match[1] in options:
            options[match[1]] = type(options[match[1]])(match[2])
    options["limit_memory"] = memory_can_be_limited(options["rss_limit_mb"])
    # Never the user's own cache.
    with tempfile.TemporaryDirectory() as cache:
        os.environ["ATTNC_CACHE_DIR"] = cache
        if rest and not os.path.isdir(rest[0]):
            return replay(options, rest[0])
        return fuzz(options, rest)


sys.exit(main())
