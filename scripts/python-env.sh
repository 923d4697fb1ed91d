#!/usr/bin/env bash
# python-env.sh FOLDER: a virtual environment with what the Python module needs to be built and tested (python/requirements.txt). Returns at
# once when it is there already.
set -euo pipefail
folder=$1
requirements=$(dirname "${BASH_SOURCE[0]}")/../python/requirements.txt
cmp -s "$requirements" "$folder/requirements.txt" && exit 0

rm -rf "$folder"
python3 -m venv "$folder"
if ! "$folder/bin/pip" install --quiet --disable-pip-version-check --retries 3 -r "$requirements"; then
  rm -rf "$folder"
  echo "The packages of python/requirements.txt could not be installed. Check the network, then run scripts/python-env.sh $folder again." >&2
  exit 1
fi
cp "$requirements" "$folder/requirements.txt"
