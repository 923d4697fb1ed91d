#!/usr/bin/env python3
"""Reads the public headers: what they declare for users, and what they say of it.

The headers are clang-formatted C++ without macros, so that a small reader of declarations serves; it knows nothing of types. The docstrings
of the Python module are the comments of the headers (`headers.py FOLDER` writes them, a header of constants for each room), and a test
compares what the headers declare with what Python has.
"""

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

INCLUDE = Path(__file__).resolve().parents[2] / "include" / "tendril"


@dataclass
class Declaration:
    """One public declaration: kind is namespace, class, struct, enum, value (of an enum), function, field, alias or base."""

    kind: str
    name: str
    text: str = ""  # without its body
    doc: str = ""
    template: bool = False
    members: list["Declaration"] = field(default_factory=list)

    @property
    def is_type(self):
        return self.kind in ("class", "struct", "enum")


_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
_LABEL = re.compile(r"(public|private|protected)\s*:(?!:)")
_TYPE = re.compile(r"^(?:class|struct|enum(?:\s+class)?)\s+((?:\w+::)*\w+)")
_OPERATOR = re.compile(r"\boperator\s*(\(\)|[^\s(]+)\s*\(")
_CLOSING = {"(": ")", "[": "]", "{": "}"}


class _Reader:
    def __init__(self, text):
        self.text, self.at = text, 0

    def skip(self, opening):
        """From an opening bracket to behind its closing one."""
        stack = [_CLOSING[opening]]
        self.at += 1
        while stack:
            c = self.text[self.at]
            comment = _COMMENT.match(self.text, self.at)
            if comment:
                self.at = comment.end()
                continue
            if c in "\"'":
                self.string(c)
                continue
            if c in _CLOSING:
                stack.append(_CLOSING[c])
            elif c == stack[-1]:
                stack.pop()
            self.at += 1

    def string(self, quote):
        self.at += 1
        while self.text[self.at] != quote:
            self.at += 2 if self.text[self.at] == "\\" else 1
        self.at += 1

    def blank(self):
        """Skips blanks, preprocessor lines and plain comments; returns the doc comment before what follows, and trailing ones (///<)."""
        doc, trailing = [], []
        while self.at < len(self.text):
            if self.text[self.at].isspace():
                self.at += 1
            elif self.text[self.at] == "#":
                self.at = self.line()
            elif self.text.startswith("///<", self.at):
                trailing.append(self.text[self.at + 4 : self.line()].strip())
                self.at = self.line()
            elif self.text.startswith("///", self.at):
                doc.append(self.text[self.at + 3 : self.line()].removeprefix(" "))
                self.at = self.line()
            elif self.text.startswith("//", self.at):
                doc = []
                self.at = self.line()
            else:
                break
        return "\n".join(doc).strip("\n"), " ".join(trailing)

    def line(self):
        end = self.text.find("\n", self.at)
        return len(self.text) if end < 0 else end

    def head(self, stops):
        """The text up to one of the stops outside of brackets, comments left out."""
        parts, angle = [], 0
        while self.at < len(self.text):
            comment = _COMMENT.match(self.text, self.at)
            if comment:
                self.at = comment.end()
                continue
            c = self.text[self.at]
            if c in stops and not (c == "," and angle):
                break
            start = self.at
            if c in "\"'":
                self.string(c)
            elif c in _CLOSING:
                self.skip(c)
            else:
                angle += (c == "<") - (c == ">")
                self.at += 1
            parts.append(self.text[start : self.at])
        return " ".join("".join(parts).split())


def _isInitialiser(head):
    """Whether a brace after this begins a value rather than a body."""
    return not re.search(r"\)(\s*(const|noexcept|override|final|&))*\s*(:[^:].*)?$", head)


def _values(reader, end):
    found = []
    while True:
        doc, trailing = reader.blank()
        if trailing and found:
            found[-1].doc = trailing
        if reader.at >= end:
            return found
        begin = reader.at
        name = reader.head(",}").split("=")[0].strip()
        ownComment = " ".join(text.strip() for text in re.findall(r"///<([^\n]*)", reader.text[begin : reader.at]))  # of the last value
        found.append(Declaration("value", name, doc=doc or ownComment))
        reader.at += 1


def _functionName(text):
    operator = _OPERATOR.search(text)
    if operator:
        return "operator" + operator.group(1)
    text = _withoutTemplates(text)
    return text[: text.index("(")].split()[-1].lstrip("*&")


def _classify(text, doc):
    template = text.startswith("template")
    if template:
        depth = 0
        for i, c in enumerate(text):
            depth += (c == "<") - (c == ">")
            if c == ">" and depth == 0:
                text = text[i + 1 :].strip()
                break
    if text.startswith("using "):
        return [Declaration("alias", text.split()[1], text, doc, template)]
    isFunction = "operator" in text or "(" in re.split(r"[={]", _withoutTemplates(text), maxsplit=1)[0]
    if isFunction:
        return [Declaration("function", _functionName(text), text, doc, template)]
    names = _withoutTemplates(withoutValues(text))
    first, *others = names.split(",")
    names = [first.split()[-1]] + [other.split()[-1] for other in others]
    return [Declaration("field", re.sub(r"\[.*", "", name.lstrip("*&")), text, doc, template) for name in names]


def _withoutTemplates(text):
    """std::map<int, V<T>> f(...) -> std::map f(...)."""
    found = 1
    while found:
        text, found = re.subn(r"<[^<>]*>", "", text)
    return text


def withoutValues(text):
    """Declarators without their initialisers: `int a = 0, b{1}` -> `int a, b`."""
    out, depth, skipping = [], 0, False
    for c in text:
        if c in "({[<":
            if c in "{" and depth == 0:
                skipping = True
            depth += 1
        if c in ")}]>":
            depth -= 1
        if c == "=" and depth == 0:
            skipping = True
        if c == "," and depth == 0:
            skipping = False
        if not skipping:
            out.append(c)
    return "".join(out)


def _scope(reader, end, public=True):
    """Declarations up to a position; those that are not public are read and left out."""
    found, last = [], []
    while True:
        doc, trailing = reader.blank()
        for declared in last if trailing else []:
            declared.doc = declared.doc or trailing
        if reader.at >= end:
            return _nested(found)
        label = _LABEL.match(reader.text, reader.at)
        if label:
            public = label.group(1) == "public"
            reader.at = label.end()
            continue
        last = _declaration(reader, doc)
        if public:
            found += last


def _nested(declarations):
    """Types that are defined behind the class to which they belong (class Outer::Inner) join its members."""
    types = {d.name: d for d in declarations if d.is_type}
    for d in declarations:
        outer, _, name = d.name.rpartition("::")
        if d.is_type and outer in types:
            d.name = name
            types[outer].members.append(d)
            d.text = ""
    return [d for d in declarations if not (d.is_type and not d.text)]


def _declaration(reader, doc):
    text = reader.head(";{")
    while reader.text[reader.at] == "{":
        kind = text.split()[0] if text else ""
        if kind in ("namespace", "class", "struct", "enum"):
            return _braced(reader, text, kind, doc)
        begin = reader.at
        reader.skip("{")
        if not _isInitialiser(text) and not _continuesInitialisers(reader, text):
            return [] if text.startswith("friend") else _classify(_withoutInitialisers(text), doc)
        text += reader.text[begin : reader.at] + reader.head(";{")
    reader.at += 1
    if (
        not text
        or text.startswith("friend")
        or re.fullmatch(r"(class|struct)\s+[\w:]+", text)
        or "= delete" in text
        or text.startswith("static_assert")
    ):
        return []
    return _classify(_withoutInitialisers(text), doc)


def _withoutInitialisers(text):
    return re.split(r"\)\s*:\s*(?!:)", text, maxsplit=1)[0] + ")" if re.search(r"\)\s*:\s*(?!:)", text) else text


def _continuesInitialisers(reader, text):
    """A brace in the list of a constructor's initialisers is followed by another or by the body."""
    if not re.search(r"\)\s*:\s", text):
        return False
    rest = reader.text[reader.at :].lstrip()
    return rest.startswith((",", "{"))


def _braced(reader, text, kind, doc):
    begin = reader.at
    reader.skip("{")
    end = reader.at
    if reader.text[end : end + 1] == ";":
        declared, reader.at = "", end + 1
    elif kind == "namespace":
        declared = ""
    else:
        declared = reader.head(";")
        reader.at += 1
    inner = _Reader(reader.text[: end - 1])
    inner.at = begin + 1
    if kind == "namespace":
        return [Declaration("namespace", text.removeprefix("namespace").strip(), text, doc, members=_scope(inner, end - 1))]
    name = _TYPE.match(text).group(1)
    if kind == "enum":
        type_ = Declaration("enum", name, text, doc, members=_values(inner, end - 1))
    else:
        bases = re.findall(r"public\s+([\w:]+)", text.split(":", 1)[1]) if re.search(r"[^:]:[^:]", text) else []
        type_ = Declaration(kind, name, text, doc, members=_scope(inner, end - 1, kind == "struct"))
        type_.members += [Declaration("base", base) for base in bases]
    result = [type_]
    if declared:  # `struct Options {...} options;`
        result += _classify(f"{name} {declared}", "")
    return result


def read(header):
    """The declarations of a header within namespace tendril."""
    text = Path(header).read_text(encoding="utf-8")
    reader = _Reader(text)
    inside = []
    for declaration in _scope(reader, len(text)):
        if declaration.kind == "namespace" and declaration.name.split("::")[0] == "tendril":
            for part in reversed(declaration.name.split("::")[1:]):
                declaration = Declaration(
                    "namespace", part, members=declaration.members if declaration.kind == "namespace" else [declaration]
                )
                inside.append(declaration)
                break
            else:
                inside += declaration.members
    return inside


def rooms(include=INCLUDE):
    """Room -> header name -> declarations."""
    return {
        room.name: {header.name: read(header) for header in sorted(room.glob("*.h"))} for room in sorted(include.iterdir()) if room.is_dir()
    }


def snake(name):
    """camelCase -> camel_case; names of classes stay."""
    if name[:1].isupper() and not name.isupper() and "_" not in name and len(name) > 2:
        return name
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda m: "_" + m.group(1).lower(), name)


def literal(text):
    return 'R"doc(' + text.replace(')doc"', ") doc") + ')doc"'


def _documented(declarations):
    lines, seen = [], set()
    for d in declarations:
        if d.is_type or d.kind == "namespace":
            lines.append(f"namespace {d.name}_ {{")
            if d.is_type:
                lines.append(f"inline constexpr char self[] = {literal(d.doc)};")
            lines += _documented(d.members)
            lines.append(f"}}")
        elif d.kind in ("function", "field", "value") and d.name.isidentifier() and d.name not in seen:
            docs = [other.doc for other in declarations if other.name == d.name and other.doc]
            lines.append(f"inline constexpr char {d.name}_[] = {literal(chr(10).join(dict.fromkeys(docs)))};")
            seen.add(d.name)
    return lines


def writeDocs(folder):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for room, headers in rooms().items():
        lines = [
            "#pragma once",
            "// Written by python/tools/headers.py from the comments of the public headers.",
            f"namespace tendril::docs::{room} {{",
        ]
        lines += _documented([declaration for declarations in headers.values() for declaration in declarations])
        text = "\n".join(lines + ["}", ""])
        file = folder / f"{room}.h"
        if not file.exists() or file.read_text(encoding="utf-8") != text:  # an unchanged file keeps what depends on it built
            file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    writeDocs(sys.argv[1])
