#!/usr/bin/env python3
"""Writes the pages of the reference that the program itself can tell: all keys of a scene, all commands with their options.

    reference_pages.py build/release/bin/tendril docs/reference
"""
import re
import subprocess
import sys
from pathlib import Path


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main():
    program, folder = sys.argv[1], Path(sys.argv[2])
    scene = "# Scene\n\nEvery key of a scene. SI units and degrees unless the scene or a value states its own; numbers may be expressions in the parameters.\n\n"
    (folder / "scene.md").write_text(scene + output_of(program, "schema", "--markdown"))

    overview = output_of(program, "--help")
    commands = re.findall(r"^  ([a-z]+) ", overview.split("Subcommands:")[1], re.M)
    page = f"# Command line\n\n```text\n{overview.strip()}\n```\n\n"
    page += "Exit codes: 0 success, 2 the input is wrong, 3 the numerics failed (what was computed is kept), 4 the machine failed.\n"
    for command in commands:
        page += f"\n## tendril {command}\n\n```text\n{output_of(program, command, '--help').strip()}\n```\n"
    (folder / "command-line.md").write_text(page)


if __name__ == "__main__":
    main()
