#!/usr/bin/env python3
"""Holds the text of the documentation to the command line: every command and option that a sentence or a table names must exist. (Blocks of code
are run, see run_page.py.)

    check_options.py build/release/bin/tendril
"""
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *(page for page in (ROOT / "docs").rglob("*.md") if page.parent.name != "gallery")]
OTHERS = {"--ntasks"}  # of Slurm


def help_of(*command):
    return subprocess.run([sys.argv[1], *command, "--help"], check=True, capture_output=True, text=True).stdout


def main():
    commands = re.findall(r"^  (\w+) {2,}", help_of().split("Subcommands:")[1], re.M)
    options = {command: set(re.findall(r"--[a-z][\w-]*", help_of(command))) for command in commands}
    known = set().union(*options.values(), OTHERS)
    wrong = []
    for page in PAGES:
        text = re.sub(r"^( *)```.*?^\1```", lambda block: "\n" * block.group(0).count("\n"), page.read_text(), flags=re.M | re.S)
        for number, line in enumerate(text.splitlines(), 1):
            for code in re.findall(r"`([^`]+)`", line):
                command = re.match(r"tendril (\w+)", code)
                if command and command.group(1) not in options:
                    wrong.append(f"{page.relative_to(ROOT)}:{number}: there is no command: {code}")
                    continue
                if not command and not code.startswith("--"):
                    continue
                there = options[command.group(1)] if command else known
                lost = [option for option in re.findall(r"(?<!\S)--[a-z][\w-]*", code) if option not in there]
                wrong += [f"{page.relative_to(ROOT)}:{number}: there is no option {option}: {code}" for option in lost]
    print("\n".join(wrong) or f"{len(PAGES)} pages name commands and options that exist")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
