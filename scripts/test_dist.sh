#!/usr/bin/env bash
# The sdist's own tests, run against the installed wheel, in a clean environment: what a packager
# does. Needs `make dist` first.
set -euo pipefail
cd "$(dirname "$0")/.."
wheel=$(realpath dist/disorder-*.whl)
sdist=$(realpath dist/disorder-*.tar.gz)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
tar -xzf "$sdist" -C "$folder" --strip-components=1
cd "$folder"
python3 -m venv venv
venv/bin/python -m pip install --quiet --upgrade pip # --group needs 25.1
venv/bin/python -m pip install --quiet -c constraints.txt "disorder[all] @ file://$wheel" --group dev --group test-data
rm -rf src # so that only the wheel can be what is tested
venv/bin/disorder --version
venv/bin/disorder audit --limit 60 --q 5 --out run > /dev/null
venv/bin/python -m pytest -q -n 2 "${@:-tests}"
