#!/usr/bin/env bash
# Everything a fresh machine needs, into .venv; safe to run again, and quick when there is nothing to do.
# Usage: setup.sh [EXTRAS]    EXTRAS defaults to embedded,embeddings,openai,sql,test.    PYTHON chooses the interpreter.
set -euo pipefail
cd "$(dirname "$0")/.."

extras=${1:-embedded,embeddings,openai,sql,test}
stamp=.venv/.setup-$extras
seldom='huggingface_hub|lexers|mypyc?|numpy|onnxruntime|pip|pkg_resources|setuptools|tests'

is_new_enough() {
  "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

choose_python() {
  local candidate
  for candidate in ${PYTHON:-python3 python3.11 python3.12 python3.13 python3.14 python}; do
    if is_new_enough "$candidate"; then
      echo "$candidate"
      return
    fi
  done
  if [ -n "${PYTHON:-}" ]; then
    echo "PYTHON=$PYTHON is no Python 3.11 or newer." >&2
  else
    echo "No Python 3.11 or newer on PATH. Install one, or name it: make setup PYTHON=/path/to/python3.11" >&2
  fi
  exit 1
}

python=$(choose_python)
state=$({ cat pyproject.toml constraints.txt && echo "$PWD $("$python" --version)"; } | cksum)

if [ "$(cat "$stamp" 2>/dev/null)" != "$state" ] || ! is_new_enough .venv/bin/python; then
  rm -f "$stamp"
  if ! is_new_enough .venv/bin/python || [ "$(cat .venv/.place 2>/dev/null)" != "$PWD" ]; then
    echo "Making .venv with $("$python" --version) ..." >&2
    if ! "$python" -c 'import ensurepip' 2>/dev/null; then
      scripts/install_command.sh venv
    fi
    "$python" -m venv --clear .venv
    echo "$PWD" >.venv/.place
  fi
  echo "Installing antiphon[$extras] into .venv ..." >&2
  .venv/bin/python -m pip install --quiet --no-compile -c constraints.txt hatchling editables
  .venv/bin/python -m pip install --quiet --no-compile -c constraints.txt --no-build-isolation -e ".[$extras]"
  # All cores compile, where pip would use one. Packages may hold files for other versions of Python. What is large
  # and seldom or never imported is compiled when it is.
  .venv/bin/python -m compileall -q -j 0 -x "/($seldom)/" .venv/lib || true
  if ! command -v redis-server >/dev/null; then
    scripts/install_command.sh redis-server || true
  fi
  echo "$state" >"$stamp"
fi

if ! command -v redis-server >/dev/null; then
  echo "No redis-server on PATH: going on with fakeredis, which keeps nothing; tests on a real Redis are skipped." >&2
fi
