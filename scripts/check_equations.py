#!/usr/bin/env python3
"""Holds the equations that comments of the code cite, (room.n), to the pages of docs/theory, and the pages to the code.

Refused are: a citation without its equation, an equation with a number out of turn, and a page of which the code cites nothing.
"""
import re
import sys
from pathlib import Path

ROOT = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent


def main():
    mistakes = []
    known, cited = {}, set()
    for page in sorted((ROOT / "docs/theory").glob("*.md")):
        numbers = [int(n) for room, n in re.findall(r"^\$\$ \((\w+)\.(\d+)\)$", page.read_text(), re.M) if room == page.stem]
        if numbers != list(range(1, len(numbers) + 1)):
            mistakes.append(f"{page.name}: the equations are numbered {numbers}, expected 1, 2, ...")
        known[page.stem] = set(numbers)
    for folder in ("include", "src"):
        for file in sorted((ROOT / folder).rglob("*.*")):
            if file.suffix not in (".h", ".cpp"):
                continue
            for number, line in enumerate(file.read_text().splitlines(), 1):
                if "//" not in line:
                    continue
                for room, n in re.findall(r"\((\w+)\.(\d+)\)", line[line.index("//"):]):
                    if room not in known:
                        continue
                    cited.add(room)
                    if int(n) not in known[room]:
                        mistakes.append(f"{file.relative_to(ROOT)}:{number}: there is no equation ({room}.{n}) in docs/theory/{room}.md")
    mistakes += [f"{room}.md: the code cites none of its equations" for room in known if known[room] and room not in cited]
    print("\n".join(mistakes) if mistakes else f"{sum(map(len, known.values()))} equations, cited from {len(cited)} rooms")
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
