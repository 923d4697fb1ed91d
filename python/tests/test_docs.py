"""The code of the documentation runs, block after block."""
import re
from pathlib import Path

import matplotlib
import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [page for page in sorted((ROOT / "docs").glob("**/*.md")) if "```python" in page.read_text(encoding="utf-8")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_code_of_page(page, tmp_path):
    matplotlib.use("Agg")
    (tmp_path / "scenes").symlink_to(ROOT / "scenes")
    text = page.read_text(encoding="utf-8")
    names = {"__name__": "docs"}
    for block in re.finditer(r"^```python\n(.*?)^```", text, re.M | re.S):
        line = text[: block.start(1)].count("\n")
        exec(compile("\n" * line + block.group(1), str(page), "exec"), names)


def test_there_is_code_to_run():
    assert ROOT / "docs/python.md" in PAGES
