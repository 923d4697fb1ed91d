#!/usr/bin/env python3
"""Writes the pages of the reference that the program and the Python module can tell: all keys of a scene, all commands with their options, all
classes and functions.

    PYTHONPATH=build/release/python reference_pages.py build/release/bin/tendril docs/reference
"""
import inspect
import re
import subprocess
import sys
from pathlib import Path


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def scene_page(program):
    head = "# Scene\n\nEvery key of a scene. SI units and degrees unless the scene or a value states its own; numbers may be expressions in the parameters.\n\n"
    return head + output_of(program, "schema", "--markdown")


def commands_page(program):
    overview = output_of(program, "--help")
    commands = re.findall(r"^  ([a-z]+) ", overview.split("Subcommands:")[1], re.M)
    page = f"# Command line\n\n```text\n{overview.strip()}\n```\n\n"
    page += "Exit codes: 0 success, 2 the input is wrong, 3 the numerics failed (what was computed is kept), 4 the machine failed.\n"
    for command in commands:
        page += f"\n## tendril {command}\n\n```text\n{output_of(program, command, '--help').strip()}\n```\n"
    return page


def described(thing):
    """A docstring as it stands: it may hold formulas and tables that no markup knows."""
    text = inspect.cleandoc(thing.__doc__ or "")
    return f"```text\n{text}\n```\n\n" if text else ""


def isOwn(thing):
    """Not what a module imports from elsewhere."""
    return (thing.__name__ if inspect.ismodule(thing) else getattr(thing, "__module__", None) or "").split(".")[0] == "tendril"


def module_page(module, title, level=1):
    page = f"{'#' * level} {title}\n\n" + described(module)
    names = [name for name in getattr(module, "__all__", dir(module)) if not name.startswith("_")]
    things = [(name, thing) for name in names if isOwn(thing := getattr(module, name))]
    for name, thing in things:
        if inspect.isclass(thing):
            page += f"{'#' * (level + 1)} {name}\n\n" + described(thing)
            members = [member for member in vars(thing) if not member.startswith("_") or member == "__init__"]
            for member in members:
                text = inspect.cleandoc(getattr(thing, member).__doc__ or "")
                page += f"`{member}`\n\n" + (f"```text\n{text}\n```\n\n" if text else "")
    functions = [(name, thing) for name, thing in things if callable(thing) and not inspect.isclass(thing)]
    if functions:
        page += f"{'#' * (level + 1)} Functions\n\n"
    for name, thing in functions:
        page += f"`{name}`\n\n" + described(thing)
    for name, thing in things:
        if inspect.ismodule(thing):
            page += module_page(thing, f"tendril.{name}", level + 1)
    return page


def main():
    import tendril

    program, folder = sys.argv[1], Path(sys.argv[2])
    for name, page in (("scene", scene_page(program)), ("command-line", commands_page(program)), ("python", module_page(tendril, "Python"))):
        (folder / f"{name}.md").write_text(page)


if __name__ == "__main__":
    main()
