#!/usr/bin/env python3
"""Runs the conformance grid in many processes at once, and tells at the end what is wrong.

Each process of attnc-conformance-tests takes a few tests, one after another; each test compiles one spec once and runs
it at all sizes. A test that crashes, hangs or leaves the GPU in an error costs its process and nothing else: what was
still to be done goes to a new one.

  grid.py --target nvptx:sm_90a                        the quick grid on a GPU
  grid.py --target nvptx:sm_90a --extent full          all of it
  grid.py --target nvptx:sm_90a --extent compile       compiles each of its specs, without a GPU; spilled registers are wrong
  grid.py --target nvptx:sm_90a --filter S5_ --jobs 4  the tests whose name matches
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import json
import os
import pathlib
import re
import select
import signal
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent

# Beside this file in a build tree and in an installation.
PLACES = (
    HERE / "../../../libexec/attnc/attnc-conformance-tests",
    HERE / "../../build/release/test/unit/conformance/attnc-conformance-tests",
)

# Tests of the grid on any target. The others are about code for the CPU.
ON_ANY_TARGET = r"^Conformance\.|^Gradients\.|^Targets/Splits\..*/requested$|BadInput|NonFinite|Subnormal"


@dataclasses.dataclass
class Failure:
    """A test that is wrong, and what it said."""

    test: str
    reason: str
    trial: str = ""
    output: list[str] = dataclasses.field(default_factory=list)

    def line(self) -> str:
        place = f" [{self.trial}]" if self.trial else ""
        return f"FAIL {self.test}{place}: {self.reason}"[:400]


class Output:
    """Reads along with one process: which test is under way, and what it said so far."""

    def __init__(self) -> None:
        self.test = ""
        self.trial = ""
        self.lines: list[str] = []

    def begin(self, test: str) -> None:
        self.test, self.trial, self.lines = test, "", []

    def reason(self) -> tuple[str, str]:
        """The first fault of the test under way, and the sizes that it showed at."""
        trial, wrong, said = "", "", ""
        for number, line in enumerate(self.lines):
            if line.startswith("  trial "):
                trial = line[8:]
            elif "WRONG: " in line:
                return line.strip(), trial
            elif not said and ": Failure" in line:
                # GoogleTest's words about values; the message of an error is among the lines that follow.
                for follower in self.lines[number + 1 : number + 40]:
                    text = follower.strip()
                    if re.search(r"error: |CUDA_ERROR_|cannot |other bits|failed", text):
                        said = re.sub(r"^Which is: ", "", text)
                        break
                wrong = wrong or trial
        if not said:
            said = next((line.strip() for line in self.lines if ": Failure" in line), "failed")
        return said, wrong


def name_of(status: int) -> str:
    """What ended a process: its exit status, or the name of a signal."""
    if status >= 0:
        return f"exit status {status}"
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"signal {-status}"


class Grid:
    """All tests, those that are done, and what came of them."""

    def __init__(self, options: argparse.Namespace, tests: list[str]) -> None:
        self.options = options
        self.queue = collections.deque(tests)
        self.total = len(tests)
        self.passed: list[str] = []
        self.skipped: list[str] = []
        self.failures: list[Failure] = []
        self.running: dict[str, float] = {}
        self.slow: list[tuple[float, str]] = []
        self.processes: set[subprocess.Popen[bytes]] = set()
        self.lock = threading.Lock()
        self.stopped = ""
        self.start = time.monotonic()
        self.log = open(options.log, "w", encoding="utf-8") if options.log else None

    def stop(self, why: str) -> None:
        """Ends the run before all is done."""
        with self.lock:
            if self.stopped:
                return
            self.stopped = why
            processes = list(self.processes)
        for process in processes:
            process.kill()

    def take(self) -> list[str]:
        """The next tests for one process: fewer towards the end, so that all cores end together."""
        with self.lock:
            if self.stopped:
                return []
            share = len(self.queue) // (3 * self.options.jobs)
            return [self.queue.popleft() for _ in range(min(len(self.queue), max(1, min(8, share))))]

    def finish(self, output: Output, verdict: str, seconds: float, reason: str = "") -> None:
        """Counts the test that `output` has read to its end."""
        test = output.test
        with self.lock:
            self.running.pop(test, None)
            self.slow.append((seconds, test))
            if verdict == "passed":
                self.passed.append(test)
            elif verdict == "skipped":
                self.skipped.append(test)
            else:
                said, trial = output.reason() if not reason else (reason, output.trial)
                failure = Failure(test, said, trial, output.lines[-60:])
                self.failures.append(failure)
                print(("\r\033[K" if sys.stdout.isatty() else "") + failure.line(), flush=True)
            if self.log:
                self.log.write("\n".join([f"=== {test}: {verdict} in {seconds:.2f} s", *output.lines]) + "\n")
                self.log.flush()
            enough = self.options.max_failures and len(self.failures) >= self.options.max_failures
        if enough:
            self.stop(f"{self.options.max_failures} failures are enough")

    def run_chunk(self, tests: list[str]) -> None:
        """Runs `tests` in one process; those that it leaves go back to the queue."""
        left = list(tests)
        command = [str(self.options.binary), "--gtest_filter=" + ":".join(tests), "--gtest_color=no"]
        with self.lock:
            if self.stopped:
                return
            process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=self.options.environment
            )
            self.processes.add(process)
        output, buffer, reason, began = Output(), b"", "", time.monotonic()
        assert process.stdout
        descriptor = process.stdout.fileno()
        while not reason:
            ready, _, _ = select.select([descriptor], [], [], self.options.timeout)
            if not ready:
                reason = f"hangs: silent for {self.options.timeout:g} s"
                break
            chunk = os.read(descriptor, 65536)
            if not chunk:
                break
            *lines, buffer = (buffer + chunk).split(b"\n")
            for line in (raw.decode(errors="replace") for raw in lines):
                match = re.match(r"\[ +(RUN|OK|FAILED|SKIPPED) +\] (\S+?)(?:, where .*)?(?: \(\d+ ms\))?$", line)
                if match and match[1] == "RUN":
                    output.begin(match[2])
                    began = time.monotonic()
                    with self.lock:
                        self.running[match[2]] = began
                elif match and output.test == match[2]:
                    verdict = {"OK": "passed", "SKIPPED": "skipped"}.get(match[1], "failed")
                    left.remove(output.test)
                    broken = any("CUDA_ERROR_" in text for text in output.lines)
                    self.finish(output, verdict, time.monotonic() - began)
                    output.begin("")
                    if verdict == "failed" and broken:
                        reason = "the GPU is in an error"
                        break
                elif output.test:
                    output.lines.append(line)
                    if line.startswith("  trial "):
                        output.trial = line[8:]
        if reason:
            process.kill()
        status = process.wait()
        process.stdout.close()
        with self.lock:
            self.processes.discard(process)
            if self.stopped:
                self.running.pop(output.test, None)
                return
        if output.test in left:
            left.remove(output.test)
            self.finish(output, "failed", time.monotonic() - began, reason or f"ends with {name_of(status)}")
        elif left and not reason:
            # It ended between two tests: do not go round in circles.
            output.begin(left.pop(0))
            self.finish(output, "failed", 0, f"did not run: the process ended with {name_of(status)}")
        with self.lock:
            self.queue.extendleft(reversed(left))

    def work(self) -> None:
        """One thread's part."""
        while tests := self.take():
            self.run_chunk(tests)

    def progress(self) -> str:
        with self.lock:
            done = len(self.passed) + len(self.failures) + len(self.skipped)
            oldest = min(self.running.items(), key=lambda item: item[1], default=None)
            elapsed = time.monotonic() - self.start
            text = f"{done}/{self.total} done, {len(self.failures)} failed, {elapsed:.0f} s"
            if oldest and time.monotonic() - oldest[1] > 5:
                text += f"; {oldest[0]} for {time.monotonic() - oldest[1]:.0f} s"
            return text

    def run(self) -> None:
        threads = [threading.Thread(target=self.work, daemon=True) for _ in range(self.options.jobs)]
        for thread in threads:
            thread.start()
        terminal = sys.stdout.isatty()
        said = time.monotonic()
        while any(thread.is_alive() for thread in threads):
            time.sleep(0.2)
            if self.options.time_budget and time.monotonic() - self.start > self.options.time_budget:
                self.stop(f"the {self.options.time_budget:g} s are over")
            if terminal:
                print("\r\033[K" + self.progress(), end="", flush=True)
            elif time.monotonic() - said > 15:
                said = time.monotonic()
                print(self.progress(), flush=True)
        if terminal:
            print("\r\033[K", end="")

    def summarize(self) -> None:
        seconds = time.monotonic() - self.start
        kinds: dict[str, list[str]] = collections.defaultdict(list)
        for failure in self.failures:
            kind = re.sub(r"-?\d+(\.\d+)?(e[-+]?\d+)?|0x[0-9a-f]+", "#", failure.reason)
            kind = re.sub(r"element \[.*?\] is \S+, expected .*", "an element is off", kind)
            kind = re.sub(r"error .*WRONG", "WRONG", kind)
            kinds[re.sub(r"\s+", " ", kind)[:160]].append(failure.test)
        if kinds:
            print("\nWhat went wrong, by kind:")
        for kind, tests in sorted(kinds.items(), key=lambda item: -len(item[1])):
            shown = ", ".join(sorted(tests)[:4]) + (", ..." if len(tests) > 4 else "")
            print(f"  {len(tests):4}  {kind}\n        {shown}")
        print("\nThe slowest: " + ", ".join(f"{test} {took:.1f} s" for took, test in sorted(self.slow)[:-6:-1]))
        left = self.total - len(self.passed) - len(self.failures) - len(self.skipped)
        line = f"{len(self.passed)} passed, {len(self.failures)} failed"
        line += f", {len(self.skipped)} skipped" if self.skipped else ""
        line += f", {left} not run ({self.stopped})" if left else ""
        print(f"{self.options.extent} grid on {self.options.target}, {seconds:.0f} s, {self.options.jobs} processes")
        print(line)

    def write_json(self, path: str) -> None:
        report = {
            "target": self.options.target,
            "extent": self.options.extent,
            "seconds": time.monotonic() - self.start,
            "stopped": self.stopped,
            "total": self.total,
            "passed": sorted(self.passed),
            "skipped": sorted(self.skipped),
            "failed": [dataclasses.asdict(failure) for failure in self.failures],
        }
        pathlib.Path(path).write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def list_tests(options: argparse.Namespace) -> list[str]:
    """The names of all tests that the options ask for."""
    listed = subprocess.run(
        [str(options.binary), "--gtest_list_tests"],
        env=options.environment, capture_output=True, text=True, check=False,
    )
    if listed.returncode:
        sys.exit(f"grid.py: error: {options.binary} does not run: {listed.stderr.strip()}")
    tests, suite, specs = [], "", {}
    for line in listed.stdout.splitlines():
        name, _, parameter = line.partition("#")
        if not name.startswith(" "):
            suite = name.rstrip()
        else:
            tests.append(suite + name.strip())
            specs[tests[-1]] = parameter
    if options.extent == "compile":
        tests = [test for test in tests if test.startswith("Conformance.")]
    elif options.target != "cpu":
        tests = [test for test in tests if re.search(ON_ANY_TARGET, test)]
    tests = [test for test in tests if re.search(options.filter, test)]
    # Tests of one spec differ in what it is run on.
    return list({specs[test]: test for test in reversed(tests)}.values())[::-1] if options.extent == "compile" else tests


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--target", default="cpu", help="cpu (default), nvptx:sm_90a, nvptx:sm_80, ...")
    add("--extent", default="quick", choices=("quick", "full", "compile"), help="how much of the grid")
    add("--filter", default="", metavar="REGEX", help="only tests whose name matches")
    cores = len(os.sched_getaffinity(0))
    add("--jobs", type=int, default=cores, metavar="N", help="processes at once (default: cores)")
    add("--max-failures", type=int, default=0, metavar="N", help="stop after N failures")
    add("--time-budget", type=float, default=0, metavar="SECONDS", help="stop after so long")
    add("--timeout", type=float, default=180, metavar="SECONDS", help="a test that is silent for so long hangs (180)")
    add("--budget", metavar="N", help="multiplications that the fp64 reference of one trial may take (2e7; full: 4e8)")
    add("--json", metavar="FILE", help="write the results there too")
    add("--log", metavar="FILE", help="write what every test says there")
    add("--binary", metavar="FILE", help="attnc-conformance-tests, where it is not in its place")
    add("--list", action="store_true", help="print the names of the tests and end")
    options = parser.parse_args()
    places = (pathlib.Path(options.binary),) if options.binary else PLACES
    found = [place.resolve() for place in places if place.is_file()]
    if not found:
        parser.error("there is no attnc-conformance-tests at " + " or ".join(str(place) for place in places))
    options.binary = found[0]
    options.jobs = max(1, options.jobs)
    options.environment = dict(
        os.environ, ATTNC_CONFORMANCE=options.extent, ATTNC_CONFORMANCE_TARGET=options.target,
    )
    if options.budget:
        options.environment["ATTNC_CONFORMANCE_BUDGET"] = options.budget
    return options


def main() -> int:
    options = parse_options()
    tests = list_tests(options)
    if options.list:
        print("\n".join(tests))
        return 0
    if not tests:
        print("grid.py: error: no test matches", file=sys.stderr)
        return 2
    grid = Grid(options, tests)
    print(f"{len(tests)} tests of the {options.extent} grid on {options.target}, {options.jobs} processes", flush=True)
    try:
        grid.run()
    except KeyboardInterrupt:
        grid.stop("interrupted")
    grid.summarize()
    if options.json:
        grid.write_json(options.json)
    return 0 if len(grid.passed) + len(grid.skipped) == grid.total else 1


if __name__ == "__main__":
    sys.exit(main())
