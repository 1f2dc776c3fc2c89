"""Compiles the cases of peers.py by the attnc at hand."""

from __future__ import annotations

import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from peers_cases import Case

HERE = pathlib.Path(__file__).resolve().parent
ATTNC = (HERE / "../../../bin/attnc", HERE / "../../build/release/bin/attnc")
TARGET, OLDER_TARGET, CUDA_TARGET = "nvptx:sm_90a", "nvptx:sm_80", "nvrtc:sm_90a"


def find_program() -> str:
    for place in ATTNC:
        if place.exists():
            return str(place.resolve())
    return shutil.which("attnc") or sys.exit("peers.py: error: there is no attnc; is this an archive or a build tree?")


class Compiler:
    """Images of cases, compiled once each."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.program = find_program()
        self.environment = dict(os.environ, ATTNC_CACHE_DIR=str(folder / "cache"))

    def spec_path(self, case: Case) -> pathlib.Path:
        path = self.folder / f"{case.forward.image}.mlir"
        # Several threads may compile the same spec.
        with tempfile.NamedTemporaryFile("w", dir=self.folder, delete=False, encoding="utf-8") as file:
            file.write(case.spec())
        os.replace(file.name, path)
        return path

    def emit(self, case: Case, stage: str) -> pathlib.Path:
        """Compiles to a stage; the file."""
        path = self.folder / f"{case.image}.{stage}"
        schedule = ["--schedule", self.older_schedules(case)] if case.warps else []
        self.compile(case, ["--target", CUDA_TARGET if case.cuda else TARGET, "--emit", stage, "-o", str(path), *schedule])
        return path

    def older_schedules(self, case: Case) -> str:
        """What the compiler chooses for a GPU without Hopper's instructions."""
        text = self.compile(case, ["--target", OLDER_TARGET, "--emit", "attn", "-o", "-"])
        found = dict.fromkeys(re.findall(r"#attn\.schedule<[^<>]*<[^<>]*>[^<>]*>", text))
        return "[" + ", ".join(found) + "]"

    def compile(self, case: Case, options: list[str]) -> str:
        """What `attnc compile` prints for a case."""
        command = [self.program, "compile", str(self.spec_path(case)), *["--backward"] * case.backward,
                   *["--deterministic"] * case.deterministic, *options]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"attnc compile {case.image}: {done.stderr.strip()[:600] or done.returncode}")
        return done.stdout

    def compile_all(self, cases: list[Case]) -> dict[str, pathlib.Path | Exception]:
        """The image of each case, or why there is none. Those that are in the folder already stay as they are."""
        paths = {case.image: self.folder / f"{case.image}.image" for case in cases}
        images: dict[str, pathlib.Path | Exception] = {name: path for name, path in paths.items() if path.exists()}
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            missing = {case.image: case for case in cases if case.image not in images}
            futures = {name: pool.submit(self.emit, case, "image") for name, case in missing.items()}
            for name, future in futures.items():
                error = future.exception()
                images[name] = error if isinstance(error, Exception) else future.result()
        return images
