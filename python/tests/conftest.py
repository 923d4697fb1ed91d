from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def scenes():
    return ROOT / "scenes"


@pytest.fixture(autouse=True)
def inScratchFolder(tmp_path, monkeypatch):
    """Runs leave their folders where a test works."""
    monkeypatch.chdir(tmp_path)
