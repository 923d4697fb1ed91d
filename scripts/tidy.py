#!/usr/bin/env python3
"""clang-tidy over src/*.cpp of a configured build folder, in parallel and within a time limit.

Files that differ from the main branch come first. What the limit leaves out is named, and is no failure.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def changed_files():
    """Files that differ from the main branch, the working tree included; none where there is no such branch."""
    diff = subprocess.run(["git", "diff", "--name-only", "origin/main"], cwd=ROOT, capture_output=True, text=True)
    return {ROOT / name for name in diff.stdout.split()} if diff.returncode == 0 else set()


def tidy(file, build):
    # The compile commands are GCC's; clang need not know every warning they name.
    command = ["clang-tidy", "--quiet", "-p", build, "--extra-arg=-Wno-unknown-warning-option", file]
    return subprocess.run(command, capture_output=True, text=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=pathlib.Path, help="folder with compile_commands.json")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--limit", type=float, default=float("inf"), help="start no further file after so many seconds")
    options = parser.parse_args()

    commands = json.loads((options.build / "compile_commands.json").read_text())
    changed = changed_files()
    files = sorted({pathlib.Path(entry["file"]) for entry in commands if pathlib.Path(entry["file"]).is_relative_to(ROOT / "src")},
                   key=lambda file: (file not in changed, file))
    if not files:
        sys.exit("no source files in the compile commands")

    start = time.monotonic()

    def run(file):
        if time.monotonic() - start > options.limit:
            return file, None
        return file, tidy(file, options.build)

    failed, skipped = [], []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for file, result in pool.map(run, files):
            if result is None:
                skipped.append(file)
            elif result.returncode != 0:
                failed.append(file)
                print(result.stdout, result.stderr, sep="", flush=True)
    if skipped:
        print("left out by the time limit:", *(file.relative_to(ROOT) for file in skipped))
    print(f"clang-tidy: {len(files) - len(skipped)} files in {time.monotonic() - start:.0f} s, {len(failed)} with findings")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
