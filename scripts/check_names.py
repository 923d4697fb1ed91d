#!/usr/bin/env python3
"""One name is one class: two headers that define a class of the same full name end in one program, whose behaviour is then undefined.

The linker keeps one destructor or inline function of the two and says nothing.
"""
import collections
import pathlib
import re
import sys

SCOPE = re.compile(r"^(?:namespace ([\w:]+)? ?\{|(?:template <[^>]*> )?(?:class|struct) (\w+)(?: final)?(?: :[^;]*|\s*)\{)", re.MULTILINE)


def defined(text):
    """Full names of the classes that a header defines at the outermost level of a namespace."""
    namespace = ""
    for scope in SCOPE.finditer(text):
        if scope.group(2):
            yield f"{namespace}::{scope.group(2)}"
        else:
            namespace = scope.group(1) or f"{namespace}::(unnamed)"


def main(root):
    places = collections.defaultdict(list)
    for folder in ("include", "src"):
        for header in sorted((root / folder).rglob("*.h")):
            for name in defined(header.read_text(encoding="utf-8")):
                places[name].append(header.relative_to(root).as_posix())
    twice = {name: where for name, where in places.items() if len(where) > 1}
    for name, where in sorted(twice.items()):
        print(f"{name} is defined in {' and in '.join(where)}: rename one of them")
    if not places:
        print(f"no class found below {root}")
    return 1 if twice or not places else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)))
