#!/usr/bin/env bash
# Install as the documentation says for releases, from requirements.lock with hashes and nothing
# else, in a fresh environment, and run one audit.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
bin=$folder/venv/bin
if [ ! -d "$bin" ]; then bin=$folder/venv/Scripts; fi # Windows
"$bin/python" -m pip install --quiet --require-hashes -r requirements.lock
"$bin/python" -m pip install --quiet --no-deps .
"$bin/python" -m pip check
cd "$folder" # so that the installed package is imported
env -u PYTHONPATH DISORDER_CACHE="$folder/cache" "$bin/disorder" audit builtin builtin --limit 20 --q 2 --out run
test -s run/run.json
