"""Every public name of C++ is there in Python, or has a reason why not."""

import fnmatch
import re
import sys
import tomllib
from pathlib import Path

import pytest

import tendril
from tendril import _core

PYTHON = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PYTHON / "tools"))

import generate  # noqa: E402
import headers  # noqa: E402

BY_HAND = tomllib.loads((PYTHON / "bindings.toml").read_text())["by_hand"]
OUT = tomllib.loads((PYTHON / "not_bound.toml").read_text())
OPERATORS = {"operator==": "__eq__", "operator*": "__mul__", "operator+": "__add__", "operator-": "__sub__", "operator()": "__call__"}


def reached(path):
    """The object of a dotted path in the module, or None."""
    found = tendril
    for part in path.split("."):
        found = getattr(found, part, None)
        if found is None:
            return None
    return found


def reason(path):
    parts = path.split("::")
    return next(
        (
            why
            for pattern, why in OUT["names"].items()
            for end in range(1, len(parts) + 1)
            if fnmatch.fnmatchcase("::".join(parts[:end]), pattern)
        ),
        None,
    )


def excludedTypes():
    return [pattern.rstrip("*").split("::")[-1] for pattern in OUT["names"] if re.fullmatch(r"[A-Z]\w*\*?|\w+::[A-Z]\w*", pattern)] + [
        d.name for header in OUT["headers"] for d in headers.read(headers.INCLUDE / header) if d.is_type or d.kind == "alias"
    ]


def missing():
    """(path in C++, path in Python) of all names that are neither in the module nor have a reason."""
    excluded = excludedTypes()
    ofExcluded = re.compile(r"\b(" + "|".join(map(re.escape, excluded)) + r")\b")
    lost = []

    def look(declarations, scope, python):
        for d in declarations:
            path = "::".join((*scope, d.name))
            if d.kind in ("base", "alias") or d.name.startswith("~") or d.name in ("operator=", "operator+=", "operator*="):
                continue
            if d.kind == "function" and re.search(r"\boverride\b", d.text):  # a name of its base
                continue
            if path in BY_HAND:
                if reached(BY_HAND[path]) is None:
                    lost.append((path, BY_HAND[path]))
                continue
            if reason(path):
                continue
            if d.kind == "function" and scope and d.name == scope[-1]:
                name = "__init__"
            elif d.is_type or d.kind == "value":
                name = d.name + "_" if d.name in generate.KEYWORDS else d.name
            else:
                name = OPERATORS.get(d.name) or generate.pythonName(d.name)
            there = ".".join((*python, name))
            if reached(there) is None and not (d.kind in ("function", "field") and ofExcluded.search(d.text)):
                lost.append((path, there))
            elif d.is_type or d.kind == "namespace":
                look(d.members, (*scope, d.name), (*python, name))

    for room, files in headers.rooms().items():
        for header, declarations in files.items():
            if f"{room}/{header}" not in OUT["headers"]:
                look(declarations, (), ())
    return lost


def test_every_public_name_is_bound_or_has_a_reason():
    lost = missing()
    assert not lost, "\n".join(
        ["bind them (python/bindings.toml, src/bind_*.cpp) or say why not (python/not_bound.toml):"]
        + [f"  {c} -> tendril.{p}" for c, p in lost]
    )


def test_the_comparison_can_fail(monkeypatch):
    monkeypatch.delattr(_core.Curve, "arc")
    monkeypatch.delattr(tendril, "writhe")
    assert {path for path, _ in missing()} == {"Curve::arc", "writhe"}


def test_no_reason_is_out_of_date():
    """Names with a reason exist."""
    names = set()

    def collect(declarations, scope):
        for d in declarations:
            names.add("::".join((*scope, d.name)))
            collect(d.members, (*scope, d.name))

    for files in headers.rooms().values():
        for declarations in files.values():
            collect(declarations, ())
    for pattern in [*OUT["names"], *BY_HAND]:
        assert any(fnmatch.fnmatchcase(name, pattern) for name in names), pattern
    for header in OUT["headers"]:
        assert (headers.INCLUDE / header).exists(), header
    assert all(len(why) > 15 for why in [*OUT["names"].values(), *OUT["headers"].values()])


def test_docstrings_are_the_comments_of_the_headers():
    assert "Lie group generalized-alpha method" in tendril.GeneralizedAlpha.__doc__
    assert "[s]" in tendril.GeneralizedAlphaOptions.duration.__doc__
    assert "out = q exp(delta)" in (headers.INCLUDE / "model/model.h").read_text()
    documented = [name for name in dir(_core) if isinstance(getattr(_core, name), type) and (getattr(_core, name).__doc__ or "").strip()]
    assert len(documented) > 200


@pytest.mark.parametrize(
    "text, expected",
    [
        ("int a = 0, b{1};  ///< two\n", [("field", "a", "two"), ("field", "b", "two")]),
        ("/// Says.\nvoid f(int x = g(1, 2), std::map<int, int> m = {}) const;\n", [("function", "f", "Says.")]),
        ("std::function<void(int)> callback{}, other{};\n", [("field", "callback", ""), ("field", "other", "")]),
        ("enum class E { A, ///< first\n B = 3 ///< second\n};\n", [("enum", "E", "")]),
        (
            "class C : public B { int hidden; public: C(int a) : hidden(a) {} int shown() const { return hidden; } };\n",
            [("class", "C", "")],
        ),
        ("using V = int;\n", [("alias", "V", "")]),
    ],
)
def test_reader_of_headers(tmp_path, text, expected):
    file = tmp_path / "header.h"
    file.write_text("#pragma once\nnamespace tendril {\n" + text + "}\n")
    found = headers.read(file)
    assert [(d.kind, d.name, d.doc) for d in found] == expected
    if found[0].kind == "enum":
        assert [(v.name, v.doc) for v in found[0].members] == [("A", "first"), ("B", "second")]
    if found[0].kind == "class":
        assert [(m.kind, m.name) for m in found[0].members] == [("function", "C"), ("function", "shown"), ("base", "B")]
