#!/usr/bin/env python3
"""Holds the model cards to what can be chosen: every kind of part, section, shape, joint, spring, load, analysis, method, form, distribution and
design must be named in docs/models.

    check_cards.py build/release/bin/tendril
"""
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KINDS = ["section", "shape", "obstacle shape", "joint", "spring", "load", "shell", "analysis", "uncertain input"]
METHODS = [("analysis", ("static", "dynamic", "optimal-control"), "method"), ("analysis", None, "contact_method"), ("beam", None, "model"), ("certification", None, "diameter")]


def variants(definition):
    for case in definition.get("allOf", []):
        for condition in case["if"]["properties"].values():
            yield condition["const"], case["then"]


def tendril(*arguments):
    return subprocess.run([sys.argv[1], *arguments], check=True, capture_output=True, text=True).stdout


def designs():
    return set(re.search(r"--design TEXT:\{([\w,]+)\}", tendril("sweep", "--help")).group(1).split(","))


def choices(field):
    return [value for alternative in field.get("anyOf", []) for value in alternative.get("enum", [])]


def main():
    schema = json.loads(tendril("schema"))["$defs"]
    cards = "\n".join(page.read_text() for page in (ROOT / "docs/models").glob("*.md"))
    named = set(re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", cards, flags=re.M | re.S)))
    wanted = {choice for kind in KINDS for choice, _ in variants(schema[kind])} - {"dynamic"}  # told method by method
    for kind, owners, key in METHODS:
        fields = [schema[kind]["properties"].get(key, {})] + [then.get("properties", {}).get(key, {}) for choice, then in variants(schema[kind]) if owners is None or choice in owners]
        wanted |= {choice for field in fields for choice in choices(field) if not choice.isupper()}
    missing = sorted((wanted | designs()) - named)
    print(f"no card in docs/models: {', '.join(missing)}" if missing else f"{len(wanted | designs())} choices have their cards")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
