#!/usr/bin/env bash
# wheel.sh PYTHON SOURCES FOLDER: builds a wheel, installs it in a fresh environment and runs a scene there. The build folder,
# build/wheel, lies as deep as the others and the compiler has the same name, so that the compiler cache serves their objects.
set -euo pipefail
python=$1 sources=$2 folder=$3
export CXX=c++ CCACHE_BASEDIR=$sources CCACHE_NOHASHDIR=1
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
"$python" -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation -w "$folder" "$sources"
"$python" -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check "$folder"/tendril-*.whl
env -u PYTHONPATH "$folder/env/bin/python" - "$sources" <<'PYTHON'
import sys
from importlib.resources import files

import tendril

results = tendril.run(f"{sys.argv[1]}/scenes/beams/roll-up.yaml", {"turns": 0.5, "elements": 8}, output="roll-up")
assert abs(results.value("tip")[0]) < 1e-6, results.value("tip")
assert files("tendril").joinpath("_core/__init__.pyi").is_file() and files("tendril").joinpath("py.typed").is_file()
print("the wheel works:", tendril.__file__)
PYTHON
