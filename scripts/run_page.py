#!/usr/bin/env python3
"""Runs the code blocks of pages of the documentation, so that what a page says is what happens.

    run_page.py --program build/release/bin/tendril [--python-path DIR] [--include DIR ...] PAGE...

Each page has a folder of its own, empty but for the folders `scenes` and `docs` of the checkout, in which its blocks run in their order. The
language of a fenced block says what is done with it, words behind the language how:

    console          lines `$ COMMAND` are run by bash, with the program as `tendril`; the lines behind one are what it prints, where `...`
                     stands for any text of a line and, alone on its line, for any lines. Without such lines the output is free.
                     exit=N: the last command ends with N (else 0).
    yaml             the top level of a scene, complete but for `tendril: 1`, or on=FILE: instead of the same keys of that scene; `check`
                     must take it. data: not a scene, only read.
    python           run in one interpreter per page; a block `output` behind it is what it prints.
    cpp              must compile; lines of a program's body are put into one. Includes come from the blocks themselves.
    file=NAME        of any language: the block is written to this file, for the blocks behind it; nothing else is done with it.
    norun=REASON     why a block is not run. There must be a reason: _ stands for a space.
    text, output     are read by people only, {NAME} by the site alone; every other language is refused.

Exits with 1 and names page and line of what failed.
"""
import argparse
import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
import traceback
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^( *)(```+)\s*(.*)$")


@dataclass
class Block:
    line: int  # of its first line of text, from 1
    language: str
    options: dict = field(default_factory=dict)
    lines: list = field(default_factory=list)

    @property
    def text(self):
        return "".join(line + "\n" for line in self.lines)


class Failure(Exception):
    pass


def blocks_of(page):
    """All fenced blocks of a page. A fence may stand in a list, its indentation is taken off."""
    blocks, block, fence, indent = [], None, "", 0
    for number, line in enumerate(page.read_text().splitlines(), 1):
        match = FENCE.match(line)
        if block is None and match:
            indent, fence = len(match[1]), match[2]
            words = match[3].split()
            pairs = [word.partition("=") for word in words[1:]]
            block = Block(number + 1, words[0] if words else "", {name: value for name, _, value in pairs})
        elif block is not None and match and match[2] == fence and not match[3]:
            blocks.append(block)
            block = None
        elif block is not None:
            block.lines.append(line[indent:] if not line[:indent].strip() else line)
    if block is not None:
        raise Failure(f"{page}:{block.line}: the block has no end")
    return blocks


def agrees(expected, printed):
    """Whether lines are as expected; `...` stands for any text of a line and, alone, for any lines."""
    pattern = "".join(r"(?:.*\n)*" if line.strip() == "..." else ".*".join(map(re.escape, line.rstrip().split("..."))) + r"[ \t]*\n" for line in expected)
    return re.fullmatch(pattern, "".join(line.rstrip() + "\n" for line in printed)) is not None


def expect(expected, printed, what):
    while expected and not expected[-1].strip():
        expected.pop()
    if expected and not agrees(expected, printed.splitlines()):
        raise Failure(f"{what} prints\n{printed}instead of\n" + "\n".join(expected))


def top_level(text):
    """The top level of a YAML mapping: key -> the lines of its value."""
    parts, key = {}, None
    for line in text.splitlines():
        match = re.match(r"([A-Za-z_]\w*):", line)
        if match:
            key = match[1]
            parts[key] = []
        if key is not None:
            parts[key].append(line)
    return parts


class Page:
    """Runs the blocks of one page in its folder."""

    def __init__(self, path, folder, options):
        self.path, self.folder, self.options = path, folder, options
        self.environment = dict(os.environ, PATH=f"{folder / '.bin'}:{os.environ['PATH']}", LC_ALL="C.UTF-8", COLUMNS="100")
        self.names = {"__name__": "__page__"}
        (folder / ".bin").mkdir()
        (folder / ".bin" / "tendril").symlink_to(Path(options.program).resolve())
        for name in ("scenes", "docs"):
            (folder / name).symlink_to(ROOT / name)

    def run(self):
        blocks = blocks_of(self.path)
        for block, behind in zip(blocks, blocks[1:] + [None]):
            try:
                self.run_block(block, behind)
            except Failure as failure:
                raise Failure(f"{self.path}:{block.line}: {failure}") from None
        return len(blocks)

    def run_block(self, block, behind):
        if "norun" in block.options:
            if not block.options["norun"]:
                raise Failure("norun needs a reason, norun=REASON")
        elif "file" in block.options:
            file = self.folder / block.options["file"]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text)
        elif block.language in ("text", "output") or block.language.startswith("{"):  # a directive of the site
            pass
        elif block.language in ("console", "yaml", "python", "cpp"):
            getattr(self, "run_" + block.language)(block, behind)
        else:
            raise Failure(f"language '{block.language}': expected console, yaml, python, cpp, text or output, file=NAME or norun=REASON")

    def run_console(self, block, behind):
        commands = []
        for line in block.lines:
            if line.startswith("$ "):
                commands.append((line[2:], []))
            elif commands and commands[-1][0].endswith("\\") and not commands[-1][1]:
                commands[-1] = (commands[-1][0] + "\n" + line, [])
            elif commands:
                commands[-1][1].append(line)
            elif line.strip():
                raise Failure("a console block begins with `$ COMMAND`")
        for i, (command, expected) in enumerate(commands):
            code = int(block.options.get("exit", 0)) if i + 1 == len(commands) else 0
            done = self.shell(["bash", "-c", command])
            if done.returncode != code:
                raise Failure(f"`{command}` ends with {done.returncode} instead of {code}\n{done.stdout}")
            expect(expected, done.stdout, f"`{command}`")

    def shell(self, command):
        return subprocess.run(command, cwd=self.folder, env=self.environment, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=600)

    def run_yaml(self, block, behind):
        if "data" in block.options:
            return
        parts = {"tendril": ["tendril: 1"]}
        place = self.folder
        if "on" in block.options:
            base = ROOT / block.options["on"]
            parts = top_level(base.read_text())
            for entry in base.parent.iterdir():  # files that the scene names
                link = place / entry.name
                if not link.exists():
                    link.symlink_to(entry)
        given = top_level(block.text)
        if "outputs" in given:
            parts.pop("reference", None)  # it judges outputs
        parts.update(given)
        scene = place / f".block-{block.line}.yaml"
        scene.write_text("".join(line + "\n" for lines in parts.values() for line in lines))
        done = self.shell(["tendril", "check", str(scene)])
        if done.returncode != 0:
            raise Failure(f"the scene is not taken\n{done.stdout}")

    def run_python(self, block, behind):
        printed = io.StringIO()
        before = os.getcwd()
        os.chdir(self.folder)
        try:
            with contextlib.redirect_stdout(printed):
                exec(compile("\n" * (block.line - 1) + block.text, str(self.path), "exec"), self.names)
        except Exception:
            raise Failure(traceback.format_exc(limit=-2)) from None
        finally:
            os.chdir(before)
        expected = list(behind.lines) if behind is not None and behind.language == "output" else []
        expect(expected, printed.getvalue(), "the block")

    def run_cpp(self, block, behind):
        includes = "\n".join(line for line in block.lines if line.startswith("#include"))
        body = "\n".join("" if line.startswith("#include") else line for line in block.lines)
        program = block.text if re.search(r"^int main\(", block.text, re.M) else f"{includes}\nvoid page() {{\n{body}\n}}\n"
        source = self.folder / f".block-{block.line}.cpp"
        source.write_text(program)
        done = self.shell([self.options.compiler, "-std=c++20", "-fsyntax-only", *(f"-I{Path(path).resolve()}" for path in self.options.include), str(source)])
        if done.returncode != 0:
            raise Failure(f"the block does not compile\n{done.stdout}")


def main():
    parser = argparse.ArgumentParser(description="Runs the code blocks of pages of the documentation.")
    parser.add_argument("pages", nargs="+", type=Path)
    parser.add_argument("--program", required=True, help="the program tendril")
    parser.add_argument("--python-path", action="append", default=[], help="where the Python package lies")
    parser.add_argument("--include", action="append", default=[], help="folders of headers")
    parser.add_argument("--compiler", default="c++")
    options = parser.parse_args()
    sys.path[:0] = options.python_path
    os.environ["MPLBACKEND"] = "Agg"
    failed = False
    for path in options.pages:
        with tempfile.TemporaryDirectory() as folder:
            try:
                count = Page(path.resolve(), Path(folder), options).run()
                print(f"{path}: {count} blocks")
            except Failure as failure:
                failed = True
                print(f"FAILED {failure}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
