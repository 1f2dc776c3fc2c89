"""Damages the files of a cache and of records, at random but the same each time, and expects the program to carry on.

  spoil_stores.py ATTNC SPEC INPUTS FOLDER [count]

FOLDER/cache holds what 'attnc run', 'compile' and 'tune' left, FOLDER/kernels.cache and FOLDER/records.json what they export,
and FOLDER/right the results of SPEC on INPUTS. Each round spoils one of these files, and calls every command that reads it: none
may end by a signal or call it a fault of its own, and runs give the same results. Prints how many rounds there were, and how
often a spoiled file was named.
"""

import os
import pathlib
import random
import shutil
import subprocess
import sys


def spoil(rng: random.Random, content: bytes, others: list[bytes]) -> bytes:
    """`content` with a fault of some kind."""
    data = bytearray(content)
    place = rng.randrange(len(data))
    kind = rng.choice(["flip", "flip", "flips", "cut", "grow", "swap", "number", "blank", "foreign"])
    if kind == "flip":
        data[place] ^= 1 << rng.randrange(8)
    elif kind == "flips":
        for _ in range(rng.randrange(2, 64)):
            data[rng.randrange(len(data))] = rng.randrange(256)
    elif kind == "cut":
        del data[place:]
    elif kind == "grow":
        data[place:place] = bytes(rng.randrange(256) for _ in range(rng.randrange(1, 4096)))
    elif kind == "swap":
        data = data[place:] + data[:place]
    elif kind == "number":  # lengths and counts stand at the beginning
        at = rng.randrange(0, min(len(data), 256) // 8) * 8
        data[at:at + 8] = rng.choice([0, 1, 2**31, 2**32 - 1, 2**63, 2**64 - 1]).to_bytes(8, "little")
    elif kind == "blank":
        end = min(len(data), place + rng.randrange(1, 512))
        data[place:end] = bytes(end - place)
    else:
        data = bytearray(rng.choice(others))
    return bytes(data)


def main() -> int:
    attnc, spec, inputs, folder = sys.argv[1:5]
    rounds = int(sys.argv[5]) if len(sys.argv) > 5 else 24
    root = pathlib.Path(folder)
    right = (root / "right").read_bytes()
    cache, whole, results = root / "cache", root / "whole", root / "results"
    shutil.rmtree(whole, ignore_errors=True)
    cache.rename(whole)
    sources = sorted(path for path in whole.rglob("*") if path.suffix in (".kernel", ".alias", ".json"))
    exported = [root / "kernels.cache", root / "records.json"]
    contents = {path: path.read_bytes() for path in sources + exported}
    environment = {**os.environ, "ATTNC_CACHE_DIR": str(cache)}
    named = 0

    def call(round_: int, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        done = subprocess.run([attnc, *arguments], env=environment, capture_output=True, timeout=60, check=False)
        text = done.stdout + done.stderr
        if done.returncode not in (0, 1, 2) or b"fault of attnc" in text:
            sys.exit(f"round {round_}: 'attnc {' '.join(arguments)}' ended with {done.returncode}: {text.decode(errors='replace')}")
        return done

    for round_ in range(rounds):
        rng = random.Random(round_)
        # Each file has its turn.
        source = (sources + exported)[round_ % len(contents)]
        spoiled = spoil(rng, contents[source], [content for path, content in contents.items() if path != source])
        shutil.rmtree(cache, ignore_errors=True)
        shutil.copytree(whole, cache)
        if source in exported:
            victim = root / "spoiled"
            victim.write_bytes(spoiled)
            for command in ("cache", "records"):
                named += call(round_, command, "import", str(victim)).returncode != 0
            named += call(round_, "explain", spec, "--records", str(victim)).returncode != 0
        else:
            (cache / source.relative_to(whole)).write_bytes(spoiled)
            for command in ("cache", "records"):
                named += call(round_, command, "verify").returncode != 0
                call(round_, command, "list")
        call(round_, "explain", spec)
        results.unlink(missing_ok=True)
        ran = call(round_, "run", spec, "--inputs", inputs, "--outputs", str(results))
        if ran.returncode or results.read_bytes() != right:
            sys.exit(f"round {round_}: {source.name} spoiled, and the results are others: {ran.stderr.decode(errors='replace')}")
    print(f"{rounds} rounds, {named} refusals")
    return 0


if __name__ == "__main__":
    sys.exit(main())
