"""Install mutants at the start of an interpreter, before its imports, while `together.py` runs the suite."""

import marshal
import os
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any

_CODES: dict[str, CodeType] = marshal.loads(Path(os.environ["MUTANT_CODES"]).read_bytes())
_read = SourceFileLoader.get_code


def _get_code(loader: Any, name: str) -> CodeType | None:
    return _CODES.get(loader.path) or _read(loader, name)


SourceFileLoader.get_code = _get_code  # type: ignore[assignment, method-assign]  # for the suite alone
