#!/usr/bin/env python3
"""Holds every source file to the room table of CMakeLists.txt: a room includes itself, the rooms it uses, and what those use.

A public header (include/tendril/ROOM) includes public headers only, and of other packages Eigen alone, so that a user needs nothing more.
"""
import argparse
import pathlib
import re
import sys

ROOM = re.compile(r"^\s*tendril_room\(\s*(\w+)([^)]*)\)", re.MULTILINE)
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')


def read_table(text):
    """Room -> rooms it may include, itself and the transitive ones too."""
    uses = {}
    for name, arguments in ROOM.findall(text):
        listed = re.search(r"USES\s+([\w\s]*?)\s*(?:LIBRARIES|$)", arguments)
        uses[name] = listed.group(1).split() if listed else []
        for other in uses[name]:
            if other not in uses:
                sys.exit(f"CMakeLists.txt: room '{name}' uses '{other}', which is not a room above it")
    allowed = {}
    for name, direct in uses.items():
        allowed[name] = {name}.union(*(allowed[other] for other in direct))
    return allowed


def target_of(include, rooms):
    """The room that an include names, and whether it is a public header of it."""
    parts = include.split("/")
    if parts[0] == "tendril" and len(parts) > 2:
        return parts[1], True
    if len(parts) > 1 and parts[0] in rooms:
        return parts[0], False
    return None, False


def check_file(path, where, room, public, allowed):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        found = INCLUDE.match(line)
        if not found:
            continue
        quote, include = found.groups()
        target, is_public = target_of(include, allowed)
        if target is not None:
            if target not in allowed:
                yield f"{where}:{number}: {include}: there is no room '{target}'"
            elif target not in allowed[room]:
                yield f"{where}:{number}: {include}: room '{room}' must not use '{target}' (may use: {', '.join(sorted(allowed[room]))})"
            elif target != room and not is_public:
                yield f"{where}:{number}: {include}: a private header of another room; include its public header"
            elif public and not is_public:
                yield f"{where}:{number}: {include}: a public header must not include a private one"
        elif public and quote == "<" and "/" in include and not include.startswith("Eigen/"):
            yield f"{where}:{number}: {include}: a public header may use no package but Eigen; move the include to the source file"


def check_tree(root):
    table = (root / "CMakeLists.txt").read_text(encoding="utf-8")
    allowed = read_table(table)
    problems, files = [], 0
    for top, public in (("include/tendril", True), ("src", False)):
        for path in sorted((root / top).rglob("*")):
            parts = path.relative_to(root / top).parts
            if path.suffix not in (".h", ".cpp") or (parts[0] == "app" and not public):
                continue
            where = path.relative_to(root)
            files += 1
            if len(parts) < 2 or parts[0] not in allowed:
                problems.append(f"{where}: lies in no room of CMakeLists.txt ({', '.join(allowed)})")
            else:
                problems += check_file(path, where, parts[0], public, allowed)
    return problems, files


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    problems, files = check_tree(parser.parse_args().root)
    for problem in problems:
        print(problem)
    print(f"{files} files checked, {len(problems)} includes point the wrong way")
    if files == 0:
        sys.exit("no source files found")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
