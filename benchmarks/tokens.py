"""`python -m benchmarks.tokens TEXTS TOKENIZER`: how far the estimate of tokens is from a real tokenizer.

TEXTS has one folder for each kind of text, with text files in it; TOKENIZER is a `tokenizer.json` as the package
`tokenizers` reads it. The texts are cut into pieces of 200 and of 5,000 characters, and the table is Markdown.
"""

import argparse
import statistics
from pathlib import Path

from antiphon_shared.text.tokens import estimate_tokens
from tokenizers import Tokenizer

PIECE_CHARACTERS = (200, 5_000)
PIECES_OF_A_FILE_MAX = 12
HEADINGS = ("kind of text", "characters a token", "200: mean", "95 % within", "5,000: mean", "95 % within")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tokens", description=__doc__)
    parser.add_argument("texts", type=Path, help="a folder that has one folder for each kind of text")
    parser.add_argument("tokenizer", type=Path, help="a tokenizer.json")
    arguments = parser.parse_args()
    tokenizer = Tokenizer.from_file(str(arguments.tokenizer))
    print("| " + " | ".join(HEADINGS) + " |")
    print("| --- |" + " ---: |" * (len(HEADINGS) - 1))
    for folder in sorted(path for path in arguments.texts.iterdir() if path.is_dir()):
        print("| " + " | ".join(row(folder, tokenizer)) + " |")


def row(folder: Path, tokenizer: Tokenizer) -> list[str]:
    """Return one kind of text: its name, its density, and the errors at each length; `–` where no text is that long."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(folder.iterdir()) if path.is_file()]
    characters = tokens = 0
    cells = []
    for length in PIECE_CHARACTERS:
        errors = []
        for piece in (piece for text in texts for piece in pieces(text, length)):
            counted = len(tokenizer.encode(piece).ids)
            errors.append(estimate_tokens(piece) / counted - 1)
            characters, tokens = characters + len(piece), tokens + counted
        cells += [f"{statistics.mean(errors):+.1%}", f"{within(errors):.0%}"] if errors else ["–", "–"]
    return [folder.name, f"{characters / max(tokens, 1):.1f}", *cells]


def pieces(text: str, length: int) -> list[str]:
    """Return the first pieces of a text, each of that many characters, and not blank."""
    starts = range(0, len(text) - length + 1, length)[:PIECES_OF_A_FILE_MAX]
    return [text[start : start + length] for start in starts if text[start : start + length].strip()]


def within(errors: list[float]) -> float:
    """Return the bound that 95 of 100 absolute errors do not exceed."""
    return sorted(abs(error) for error in errors)[max(0, -(-95 * len(errors) // 100) - 1)]


if __name__ == "__main__":
    main()
