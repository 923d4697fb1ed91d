#!/usr/bin/env python3
"""Writes the bindings of what the public headers declare: generate.py FOLDER. One source declares all types; for every room one or
more define their members. So a name that a header gains is there in Python without further ado.

What Python needs otherwise (a Pythonic form, a check of sizes, a callback) is written by hand in src/bind_*.cpp and named in
bindings.toml; what stays out has its reason in not_bound.toml. A function with a type that has no form in Python is left out, too, and
must have its reason there: a test compares.
"""

import fnmatch
import re
import sys
import tomllib
from pathlib import Path

import headers
from headers import Declaration, snake

PYTHON = Path(__file__).resolve().parents[1]
KEYWORDS = {
    "lambda",
    "None",
    "in",
    "from",
    "is",
    "not",
    "and",
    "or",
    "global",
    "with",
    "pass",
    "def",
    "as",
    "import",
    "for",
    "True",
    "False",
}
SCALARS = {
    "bool",
    "int",
    "long",
    "double",
    "float",
    "char",
    "unsigned",
    "std::size_t",
    "std::uint64_t",
    "std::uint32_t",
    "std::int64_t",
    "size_t",
    "unsigned char",
    "long long",
    "Eigen::Index",
    "std::uint8_t",
}
PLAIN = {"std::string", "std::string_view", "std::filesystem::path", "fs::path"}
DENSE = {
    "Eigen::VectorXd",
    "Eigen::MatrixXd",
    "Eigen::Vector3d",
    "Eigen::Matrix3d",
    "Eigen::Vector2d",
    "Eigen::Matrix3Xd",
    "Eigen::Matrix2d",
    "Eigen::Vector4d",
    "Eigen::VectorXi",
    "Eigen::Matrix4d",
    "Eigen::Matrix2Xd",
    "Eigen::ArrayXd",
    "Eigen::RowVector3d",
    "Eigen::Vector2i",
}
CONTAINERS = {
    "std::vector",
    "std::array",
    "std::map",
    "std::optional",
    "std::pair",
    "std::variant",
    "std::shared_ptr",
    "std::unique_ptr",
    "std::function",
    "std::span",
    "std::tuple",
}
QUESTION = "std::function<bool()>"


class Unsupported(Exception):
    pass


def pythonName(name):
    name = snake(name)
    return name + "_" if name in KEYWORDS else name


def split(text, separator=","):
    """Splits outside of brackets."""
    parts, depth, begin = [], 0, 0
    for i, c in enumerate(text):
        if c in "<([{":
            depth += 1
        elif c in ">)]}" and not (c == ">" and i and text[i - 1] == "-"):
            depth -= 1
        elif c == separator and depth == 0:
            parts.append(text[begin:i])
            begin = i + 1
    parts.append(text[begin:])
    return [part.strip() for part in parts if part.strip()]


class Names:
    """All types of the public headers by their qualified names."""

    def __init__(self, rooms):
        self.types, self.constants = {}, set()
        for room in rooms.values():
            for declarations in room.values():
                self._collect(declarations, ())

    def _collect(self, declarations, scope):
        for d in declarations:
            path = (*scope, d.name)
            if d.is_type or d.kind == "alias":
                self.types.setdefault("::".join(path), d)
            if d.is_type or d.kind == "namespace":
                self._collect(d.members, path)
            elif d.kind == "field" and ("constexpr" in d.text or "static" in d.text):
                self.constants.add("::".join(path))

    def find(self, name, scope):
        """The qualified name of a type seen from a scope, or None."""
        for depth in range(len(scope), -1, -1):
            candidate = "::".join((*scope[:depth], name))
            if candidate in self.types:
                return candidate
        return None


class Type:
    """A type as it stands in a declaration, resolved."""

    def __init__(self, text, scope, names, hidden):
        text = re.sub(r"\[\[\w+\]\]|\b(virtual|inline|static|constexpr|explicit|mutable|typename)\b|\btendril::", "", text).strip()
        if re.fullmatch(r"const char\s*\*", text):
            self.isReference, self.isPointer, self.isConst, self.kind, self.core, self.inner = (
                False,
                False,
                False,
                "text",
                "const char*",
                [],
            )
            return
        self.isReference, self.isPointer = text.endswith("&"), text.endswith("*")
        core = text.rstrip("&* ").strip()
        self.isConst = bool(re.match(r"const\b", core))
        core = re.sub(r"^const\b\s*", "", core).strip()
        self.names, self.hidden = names, hidden
        self.kind, self.core, self.inner = self._resolve(core, scope)
        if self.isPointer and self.kind != "object":
            raise Unsupported(f"pointer {text}")

    def _resolve(self, core, scope):
        if core in SCALARS:
            return "scalar", core, []
        if core in PLAIN:
            return "text", core.replace("fs::", "std::filesystem::"), []
        if core == "void":
            return "void", core, []
        if core in DENSE or re.match(r"Eigen::(Matrix|Array)<", core):
            return "array", core, []
        ref = re.fullmatch(r"Eigen::Ref<(.*)>", core)
        if ref:
            inner = Type(ref.group(1), scope, self.names, self.hidden)
            self.isConst = self.isConst or inner.isConst
            if not inner.isConst:
                raise Unsupported("writes into memory of the caller")
            return inner.kind, inner.core, []
        if core.startswith("Eigen::SparseMatrix<"):
            return "sparse", core, []
        template = re.fullmatch(r"([\w:]+)<(.*)>", core)
        if template and template.group(1) in CONTAINERS:
            name, arguments = template.groups()
            if name == "std::function":
                return self._function(arguments, scope)
            inner = [Type(a, scope, self.names, self.hidden) if not a.isdigit() else a for a in split(arguments)]
            spelled = ", ".join(a if isinstance(a, str) else a.spell() for a in inner)
            if name == "std::span":
                return "span", inner[0].spell(value=True), inner
            if name == "std::unique_ptr":
                return "owner", f"std::unique_ptr<{spelled}>", inner
            return "container", f"{name}<{spelled}>", [a for a in inner if not isinstance(a, str)]
        if template:
            raise Unsupported(f"type {core}")
        found = self.names.find(core, scope)
        if not found:
            raise Unsupported(f"type {core}")
        declaration = self.names.types[found]
        if declaration.kind == "alias":
            target = declaration.text.split("=", 1)[1].strip()
            alias = Type(target, tuple(found.split("::")[:-1]), self.names, self.hidden)
            return alias.kind, alias.core if alias.kind not in ("array", "sparse") else "tendril::" + found, alias.inner
        if self.hidden(found):
            raise Unsupported(f"type {core} is not bound")
        return ("enum" if declaration.kind == "enum" else "object"), "tendril::" + found, []

    def _function(self, signature, scope):
        result, arguments = re.fullmatch(r"(.*?)\((.*)\)", signature).groups()
        parts = [Type(result, scope, self.names, self.hidden)]
        for argument in split(arguments):
            parts.append(Type(Parameter.typeOf(argument), scope, self.names, self.hidden))
            if (parts[-1].isReference and not parts[-1].isConst and parts[-1].kind != "object") or parts[-1].isPointer:
                raise Unsupported("callback that writes into memory of the caller")
        return "function", f"std::function<{parts[0].spell()}({', '.join(p.spell() for p in parts[1:])})>", parts

    def spell(self, value=False):
        """The type in C++; as a value: without const and reference."""
        core = (
            f"std::span<const {self.core}>"
            if self.kind == "span" and not value
            else f"std::vector<{self.core}>" if self.kind == "span" else self.core
        )
        if value:
            return core + ("*" if self.isPointer else "")
        return (
            ("const " if self.isConst and self.kind != "span" else "") + core + ("&" if self.isReference else "*" if self.isPointer else "")
        )

    def annotate(self):
        """The type as Python annotates an argument of it."""
        if self.kind == "scalar":
            return {"bool": "bool", "char": "str", "double": "float", "float": "float"}.get(self.core, "int")
        if self.kind == "void":
            return "None"
        if self.kind == "text":
            return "str | os.PathLike" if "path" in self.core else "str"
        if self.kind in ("array", "sparse"):
            return "numpy.typing.ArrayLike" if self.kind == "array" else "scipy.sparse.csc_matrix"
        if self.kind in ("object", "enum"):
            inPython = ".".join(pythonName(part) for part in self.core.split("::")[1:])
            return f"tendril._core.{inPython}" + (" | None" if self.isPointer else "")
        inner = [t.annotate() for t in self.inner]
        if self.kind == "function":
            return f"collections.abc.Callable[[{', '.join(inner[1:])}], {inner[0]}]"
        head = self.core.partition("<")[0]
        if head == "std::optional":
            return f"{inner[0]} | None"
        if head == "std::variant":
            return " | ".join(inner)
        if head in ("std::pair", "std::tuple"):
            return f"tuple[{', '.join(inner)}]"
        if head == "std::map":
            return f"collections.abc.Mapping[{', '.join(inner)}]"
        return inner[0] if head == "std::shared_ptr" else f"collections.abc.Sequence[{inner[0]}]"

    @property
    def isObjects(self):
        """Whether it is a list of objects."""
        return (self.kind == "span" or self.core.startswith(("std::vector", "std::array"))) and any(t.kind == "object" for t in self.inner)


class Parameter:
    def __init__(self, text, scope, names, hidden):
        declared, _, default = text.partition("=")
        if not default and text.endswith("{}"):
            declared, default = text[:-2], "{}"
        self.name = self.nameOf(declared)
        self.type = Type(self.typeOf(declared), scope, names, hidden)
        self.default = self._default(default.strip(), scope, names)

    @staticmethod
    def _isNamed(declared):
        return bool(re.search(r"[\s&*>]([A-Za-z_]\w*)$", declared)) and not re.fullmatch(r"(const\s+)?[\w:]+(<.*>)?\s*[&*]?", declared)

    @classmethod
    def typeOf(cls, declared):
        declared = declared.strip()
        return re.sub(r"[A-Za-z_]\w*$", "", declared).strip() if cls._isNamed(declared) else declared

    @classmethod
    def nameOf(cls, declared):
        declared = re.sub(r"/\*\s*(\w+)\s*\*/", r"\1", declared.strip())
        return re.search(r"([A-Za-z_]\w*)$", declared).group(1) if cls._isNamed(declared) else ""

    def _default(self, text, scope, names):
        if not text:
            return None
        if text == "{}" or text == '""':
            return f"{self.type.spell(value=True)}{{}}"
        if text == "nullptr":
            return "nb::none()"
        if text.startswith("{"):
            return f"{self.type.spell(value=True)}{text}"
        if re.fullmatch(r"[-\d.e]+|true|false|\"[^\"]*\"", text):
            return text
        head = re.match(r"[\w:]+", text).group(0)
        owner, _, last = head.rpartition("::")
        if owner:
            found = names.find(owner, scope)
            if found and names.types[found].kind != "alias":
                return f"tendril::{found}::{text[len(owner) + 2:]}"
        for depth in range(len(scope), -1, -1):
            if "::".join((*scope[:depth], head)) in names.constants:
                return f"tendril::{'::'.join((*scope[:depth], head))}{text[len(head):]}"
        resolved = f"{self.type.spell(value=True)}({text})" if self.type.kind == "array" else text
        return resolved


class Room:
    """Writes the bindings of one room."""

    def __init__(self, name, files, names, settings):
        self.name, self.files, self.names, self.settings = name, files, names, settings
        self.types, self.members, self.left = [], [], []

    def hidden(self, path):
        return self.settings.isLeftOut(path)

    def write(self):
        for header, declarations in self.files.items():
            self.header = f"{self.name}/{header}"
            if not self.settings.isLeftOutHeader(self.header):
                self.walk(declarations, ())
            else:
                self.note(declarations, ())
        return self

    def note(self, declarations, scope):
        for d in declarations:
            self.left.append(("::".join((*scope, d.name)), "the whole header"))

    def leave(self, path, reason):
        self.left.append((path, reason))

    def walk(self, declarations, scope):
        owner = "::".join(scope)
        groups = {}
        for d in declarations:
            path = "::".join((*scope, d.name))
            if d.kind in ("base", "alias"):
                continue
            if d.name.startswith("~") or (d.kind == "function" and "operator=" in d.name and "operator==" not in d.name):
                continue
            if d.template:
                self.leave(path, "template")
            elif self.settings.isLeftOut(path) or self.settings.isByHand(path):
                self.leave(path, "by hand or left out")
                if d.is_type and self.settings.isByHand(path):
                    pass
            elif d.kind == "namespace":
                self.walk(d.members, (*scope, d.name))
            elif d.kind == "enum":
                self.enum(d, path, scope)
            elif d.is_type:
                self.type(d, path, scope)
            elif d.kind == "field":
                self.fieldOf(d, path, scope)
            elif d.kind == "function":
                groups.setdefault(d.name, []).append(d)
        for name, overloads in groups.items():
            for overload in overloads:
                try:
                    self.function(overload, scope, len(overloads))
                except Unsupported as why:
                    self.leave("::".join((*scope, name)), str(why))

    def parent(self, scope):
        """The expression of the Python scope of a C++ scope."""
        if not scope:
            return "m"
        if "::".join(scope) in self.names.types:
            return f"nb::type<tendril::{'::'.join(scope)}>()"
        return f'submodule(m, "{pythonName(scope[-1])}")'

    def doc(self, scope, name):
        return f"docs::{self.name}::" + "".join(f"{part}_::" for part in scope) + name

    def enum(self, d, path, scope):
        values = "".join(
            f'\n      .value("{d_.name + "_" if d_.name in KEYWORDS else d_.name}", tendril::{path}::{d_.name}, '
            + self.doc((*scope, d.name), d_.name + "_")
            + ")"
            for d_ in d.members
        )
        self.types.append(
            (path, (), f'  nb::enum_<tendril::{path}>({self.parent(scope)}, "{d.name}", {self.doc((*scope, d.name), "self")}){values};')
        )

    def type(self, d, path, scope):
        bases = [m.name for m in d.members if m.kind == "base"]
        base = next((found for b in bases if (found := self.names.find(b, scope)) and not self.hidden(found)), None)
        arguments = f"tendril::{path}" + (f", tendril::{base}" if base else "")
        self.types.append(
            (
                path,
                (base,) if base else (),
                f'  nb::class_<{arguments}>({self.parent(scope)}, "{d.name}", {self.doc((*scope, d.name), "self")});',
            )
        )
        self.walk(d.members, (*scope, d.name))
        constructors = [m for m in d.members if m.kind == "function" and m.name == d.name]
        if not constructors and not self.settings.isMadeElsewhere(path):
            known = list(self.keywordsOf(path))
            signature = "".join(f", {name}: {kind} = ..." for name, kind, _ in known)
            signature = f"def __init__(self{', *' if known else ''}{signature}) -> None"
            doc = "".join(f"{name}: {' '.join(doc.split())}\n" for name, _, doc in known if doc)
            self.members.append((scope + (d.name,), f"  keywords(c, {headers.literal(signature)}, {headers.literal(doc)});"))

    def keywordsOf(self, path):
        """(name, annotation, comment) of the members of a class without constructors, those of its bases first."""
        scope = tuple(path.split("::"))
        members = self.names.types[path].members
        for base in [self.names.find(m.name, scope) for m in members if m.kind == "base"]:
            if base:
                yield from self.keywordsOf(base)
        for d in members:
            declared = split(headers.withoutValues(d.text))[0] if d.kind == "field" else "static"
            if re.match(r"(static|const|constexpr|inline)\b", declared) or self.hidden(f"{path}::{d.name}"):
                continue
            try:
                kind = Type(re.sub(r"\w+$", "", declared), scope, self.names, self.hidden)
                if kind.kind != "owner":
                    yield pythonName(d.name), kind.annotate(), d.doc
            except Unsupported:
                continue

    def fieldOf(self, d, path, scope):
        declared = split(headers.withoutValues(d.text))[0]
        isStatic = "static" in d.text or "constexpr" in d.text
        try:
            kind = Type(re.sub(r"\w+$", "", declared), tuple(scope), self.names, self.hidden)
            if kind.kind == "owner":
                raise Unsupported("owned by the object")
        except Unsupported as why:
            self.leave(path, str(why))
            return
        name = pythonName(d.name)
        if isStatic:
            target = "c" if "::".join(scope) in self.names.types else self.parent(scope)
            self.members.append((tuple(scope), f'  {target}.attr("{name}") = tendril::{path};'))
        else:
            self.members.append((tuple(scope), f'  field<&tendril::{path}>(c, "{name}", {self.doc(scope, d.name + "_")});'))

    def function(self, d, scope, overloads):
        owner, path = "::".join(scope), "::".join((*scope, d.name))
        text = d.text
        isMethod = owner in self.names.types
        if re.search(r"\boverride\b|\bfinal\b", text.split("(")[-1].split(")")[-1]) and isMethod:
            return
        if "= default" in text and "(" in text and d.name != (scope[-1] if scope else ""):
            return
        nameAt = (
            text.index("(", re.search(rf"\b{d.name}\s*\(", text).start())
            if not d.name.startswith("operator")
            else text.index("(", text.index("operator") + len("operator") + (1 if d.name == "operator()" else 0))
        )
        depth, end = 0, nameAt
        for end in range(nameAt, len(text)):
            depth += (text[end] == "(") - (text[end] == ")")
            if depth == 0:
                break
        returned = text[:nameAt][: -len(d.name)].strip() if not d.name.startswith("operator") else text[: text.index("operator")].strip()
        raw = re.sub(r"/\*\s*(\w+)\s*\*/", r"\1", text[nameAt + 1 : end])
        parameters = [Parameter(p, tuple(scope), self.names, self.hidden) for p in split(raw)]
        for i, p in enumerate(parameters):
            p.name = p.name or f"argument{i + 1}"
        isConstructor = isMethod and d.name == scope[-1]
        if isConstructor:
            return self.constructor(d, scope, parameters)
        isStatic = bool(re.match(r"(inline\s+)?static\b", text)) or not isMethod
        result = Type(returned, tuple(scope), self.names, self.hidden)
        outputs = self.settings.outputsOf(path)
        taken = [p for p in parameters if p.name not in outputs]
        for p in taken:
            if p.type.isReference and not p.type.isConst and p.type.kind not in ("object",):
                raise Unsupported("writes into memory of the caller")
        self.emit(d, scope, path, isMethod and not isStatic, result, parameters, taken, outputs)

    def emit(self, d, scope, path, hasSelf, result, parameters, taken, outputs):
        owner = "::".join(scope)
        operator = {
            "operator*": "__mul__",
            "operator+": "__add__",
            "operator-": "__sub__",
            "operator==": "__eq__",
            "operator()": "__call__",
            "operator+=": "__iadd__",
        }
        name = operator.get(d.name) if d.name.startswith("operator") else pythonName(d.name)
        if not name:
            raise Unsupported(f"operator {d.name}")
        isFree = owner not in self.names.types
        isMeasure = isFree and result.core == "tendril::Measure" and parameters
        declared = ([f"tendril::{owner}& self"] if hasSelf else []) + [f"{self.parameterType(p)} {p.name}" for p in taken]
        mentioned = {p.name for p in parameters}
        checks = "".join(
            f' requireSize("{a}", {a if "(" in a else a + ".size()"}, {size});' for a, size in self.settings.sizesOf(path).items()
        )
        checks += "".join(
            f' requireIndex("{a}", long({i}), long({bound}));'
            for a, bound in self.settings.rangesOf(path).items()
            if (i := a).split(".")[0] in mentioned
        )
        checks += "".join(f" {check};" for check in self.settings.checksOf(path))
        locals_ = "".join(f" {p.type.spell(value=True)} {p.name};" for p in parameters if p.name in outputs)
        call = (f"self.{d.name}" if hasSelf else f"tendril::{path}") + f"({', '.join(self.passed(p) for p in parameters)})"
        if outputs:
            given = ", ".join(([] if result.kind == "void" else ["result"]) + [p.name for p in parameters if p.name in outputs])
            count = given.count(",") + 1
            kept = "" if result.kind == "void" else "auto result = "
            body = f"{locals_} {kept}{call}; return {f'std::make_tuple({given})' if count > 1 else given};"
            returned = ""
        elif result.kind == "void":
            body, returned = f" {call};", ""
        elif result.isObjects and hasSelf:
            body, returned = f" return listOf(nb::find(self), {call});", " -> nb::list"
        elif result.isObjects:
            body, returned = f" return listOf({{}}, {call});", " -> nb::list"
        elif result.kind == "span" and result.inner[0].core == "double":
            body, returned = f" return give(std::span<const double>({call}));", ""
        elif isMeasure:
            body, returned = f" return guarded({call}, {parameters[0].name});", ""
        else:
            body, returned = f" return give({call});", " -> decltype(auto)"
        extras = [self.argument(p) for p in taken]
        shift = 1 if hasSelf else 0
        isView = not outputs and result.kind == "object" and (result.isReference or result.isPointer)
        if isView:
            extras.append("nb::rv_policy::reference_internal" if hasSelf else "nb::rv_policy::reference")
        elif not outputs and result.kind in ("object", "owner"):
            extras += [
                f"nb::keep_alive<0, {i + 1 + shift}>()" for i, p in enumerate(taken) if p.type.kind == "object" and p.type.isReference
            ]
            if hasSelf:
                extras.append("nb::keep_alive<0, 1>()")
        if hasSelf and self.settings.keeps(path):
            extras += [f"nb::keep_alive<1, {i + 2}>()" for i, p in enumerate(taken) if p.type.kind == "object" or p.type.isObjects]
        makesObjects = not outputs and (result.isObjects or result.kind == "span")  # of Python, which needs its lock
        if self.settings.isLong(path) and not makesObjects:
            extras.append("nb::call_guard<nb::gil_scoped_release>()")
        if name.startswith("__") and name != "__call__":
            extras.append("nb::is_operator()")
        elif d.name.isidentifier():
            extras.append(self.doc(scope, d.name + "_"))
        target = "c" if not isFree else self.parent(scope)
        define = "def" if hasSelf else ("def_static" if not isFree else "def")
        if isFree and scope:
            target = f"space"
        self.members.append(
            (
                tuple(scope),
                f'  {target}.{define}("{name}", []({", ".join(declared)}){returned} {{{checks}{body} }}'
                + "".join(", " + e for e in extras)
                + ");",
            )
        )

    def parameterType(self, p):
        if p.type.kind == "object":
            return p.type.spell() if p.type.isReference or p.type.isPointer else f"const {p.type.spell(value=True)}&"
        if p.type.kind == "owner":
            return p.type.spell(value=True)
        return f"const {p.type.spell(value=True)}&"

    def passed(self, p):
        """What C++ gets: questions to stop ask for Ctrl-C, too, be they arguments or members of options."""
        if p.type.core == QUESTION:
            return f"Interruption().question({p.name})"
        if p.type.kind == "object" and not p.type.isPointer and (p.type.isConst or not p.type.isReference):
            path = p.type.core.removeprefix("tendril::")
            asked = [d.name for d in self.names.types[path].members if d.kind == "field" and d.text.startswith(QUESTION)]
            if asked:
                return f"asking<{', '.join([p.type.core, *(f'&{p.type.core}::{name}' for name in asked)])}>({p.name})"
        return f"std::move({p.name})" if p.type.kind == "owner" else p.name

    def argument(self, p):
        text = f'nb::arg("{pythonName(p.name)}")'
        if p.type.isPointer or (p.type.kind == "function" and p.default is not None):  # no callback is None
            text += ".none()"
        return text + (f" = {p.default}" if p.default is not None else "")

    def constructor(self, d, scope, parameters):
        isAbstract = any(m.kind == "function" and re.search(r"=\s*0$", m.text) for m in self.names.types["::".join(scope)].members)
        if len(parameters) == 1 and parameters[0].type.core == "tendril::" + "::".join(scope):
            return
        path = "::".join(scope)
        if isAbstract or self.settings.isAbstract(path) or (not parameters and self.settings.isMadeElsewhere(path)):
            return
        for p in parameters:
            if p.type.isReference and not p.type.isConst and p.type.kind != "object":
                raise Unsupported("writes into memory of the caller")
        extras = [self.argument(p) for p in parameters]
        extras += [f"nb::keep_alive<1, {i + 2}>()" for i, p in enumerate(parameters) if p.type.kind == "object" or p.type.isObjects]
        if d.doc:
            extras.append(self.doc(scope, d.name + "_"))
        declared = "".join(f", {self.parameterType(p)} {p.name}" for p in parameters)
        made = f"new (self) tendril::{path}({', '.join(self.passed(p) for p in parameters)});"
        if self.settings.isLong(path + "::" + d.name):
            made = f"nb::gil_scoped_release released; {made}"
        self.members.append(
            (tuple(scope), f'  c.def("__init__", [](tendril::{path}* self{declared}) {{ {made} }}{"".join(", " + e for e in extras)});')
        )


class Settings:
    def __init__(self):
        self.bindings = tomllib.loads((PYTHON / "bindings.toml").read_text(encoding="utf-8"))
        self.out = tomllib.loads((PYTHON / "not_bound.toml").read_text(encoding="utf-8"))

    def _matches(self, path, patterns):
        return any(fnmatch.fnmatchcase(path, pattern) for pattern in patterns)

    def isLeftOut(self, path):
        return self._matches(path, self.out.get("names", {}))

    def isLeftOutHeader(self, header):
        return header in self.out.get("headers", {})

    def isByHand(self, path):
        return path in self.bindings["by_hand"]

    def isLong(self, path):
        return self._matches(path, self.bindings.get("long", {}).get("names", []))

    def keeps(self, path):
        return self._matches(path, self.bindings.get("keeps", {}).get("names", []))

    def isAbstract(self, path):
        return path in self.bindings.get("abstract", {}).get("names", [])

    def isMadeElsewhere(self, path):
        return path in self.bindings["made_elsewhere"]["names"]

    def checksOf(self, path):
        return self.bindings["checks"].get(path, [])

    def outputsOf(self, path):
        return self.bindings.get("outputs", {}).get(path, [])

    def sizesOf(self, path):
        return self.bindings.get("sizes", {}).get(path, {})

    def rangesOf(self, path):
        found = {}
        for pattern, bounds in self.bindings.get("ranges", {}).items():
            if fnmatch.fnmatchcase(path, pattern):
                found |= {name: bound for name, bound in bounds.items() if name not in found}
        return found


def bindings():
    """All rooms with what is written for them."""
    rooms = headers.rooms()
    names, settings = Names(rooms), Settings()
    return [Room(name, files, names, settings).write() for name, files in rooms.items()], names


def ordered(types):
    """Bases before what derives from them, classes before what is nested in them."""
    done, result, waiting = set(), [], list(types)
    known = {path for path, _, _ in types}
    while waiting:
        ready = [t for t in waiting if all(b in done or b not in known for b in (*t[1], t[0].rpartition("::")[0]))]
        result += ready
        done |= {t[0] for t in ready}
        waiting = [t for t in waiting if t not in ready]
    return result


# What the headers of a room declare alone and Python must know in full.
FORWARD = {"*": ("contact/contact_model.h", "model/director_system.h", "model/model.h"), "lie": (), "solvers": (), "documents": ()}
FORWARD["scenes"] = (*FORWARD["*"], "analysis/model_contacts.h", "control/optimal_control.h", "shells/sheet_shape.h")
FORWARD["io"] = FORWARD["studies"] = (*FORWARD["*"], "scenes/certification.h")
OWN = {"elements": "measure_guard.h"}  # of the bindings
PART = 300  # members in a source, so that none takes long to compile


def partsOf(room, names):
    """The definitions of the members of a room, cut into pieces."""
    groups = {}
    for scope, line in room.members:
        groups.setdefault(scope, []).append(line)
    parts, size = [[]], 0
    for scope, lines in groups.items():
        if size and size + len(lines) > PART:
            parts.append([])
            size = 0
        size += len(lines)
        isType = "::".join(scope) in names.types
        begin = (
            f"  auto c = classOf<tendril::{'::'.join(scope)}>();\n"
            if isType
            else f"  nb::module_ space = {room.parent(scope)};\n" if scope else ""
        )
        parts[-1].append("  {\n" + begin + "\n".join(lines) + "\n  }")
    return ["\n".join(part) for part in parts]


def write(folder):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    headers.writeDocs(folder / "docs")
    sources = []

    def put(name, text):
        file = folder / name
        sources.append(name)
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")

    rooms, names = bindings()
    types, headersOfAll, defined = [], [], []
    for room in rooms:
        includes = f'#include "docs/{room.name}.h"\n' + "".join(f'#include "tendril/{room.name}/{header}"\n' for header in room.files)
        headersOfAll.append(includes)
        types += room.types
        known = "".join(f'#include "tendril/{h}"\n' for h in FORWARD.get(room.name, FORWARD["*"]))
        own = f'#include "{OWN[room.name]}"\n' if room.name in OWN else ""
        head = f'#include "module.h"\n{own}\n{known}{includes}\nnamespace tendril::python {{\n\n'
        for i, part in enumerate(partsOf(room, names)):
            defined.append(f"define_{room.name}_{i + 1}")
            put(f"members_{room.name}_{i + 1}.cpp", f"{head}void {defined[-1]}(nb::module_& m) {{\n{part}\n  (void)m;\n}}\n\n}}\n")
    prototypes = "\n".join(f"void {name}(nb::module_& m);" for name in defined)
    calls = "\n".join(f"  {name}(m);" for name in defined)
    declarations = "\n".join(text for _, _, text in ordered(types))
    put(
        "types.cpp",
        f'#include "binding.h"\n{"".join(headersOfAll)}\nnamespace tendril::python {{\n\n'
        f"void declareAll(nb::module_& m) {{\n{declarations}\n}}\n\n}}\n",
    )
    put(
        "all.cpp",
        f'#include "binding.h"\n\nnamespace tendril::python {{\n\n{prototypes}\n\nvoid defineAll(nb::module_& m) {{\n{calls}\n}}\n\n}}\n',
    )
    for old in folder.glob("*.cpp"):
        if old.name not in sources:
            old.unlink()
    return sources


if __name__ == "__main__":
    print("\n".join(write(sys.argv[1])))
