"""Make `harness/model/data/o200k_base.xz` from tiktoken's rank file.

    python scripts/make_vocabulary.py o200k_base.tiktoken harness/model/data/o200k_base.xz

The rank file is the one tiktoken downloads, or a copy of it that a package ships; its sha256 is checked
against the one in tiktoken's own source. What is written holds the same tokens in the order of their
ranks, one length byte before each, compressed with xz.
"""

import base64
import hashlib
import lzma
import sys
from pathlib import Path

RANK_FILE_SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"


def compact(rank_file: bytes) -> bytes:
    """The tokens of `rank_file` in rank order, each after its length.

    Raises ValueError when the file is not the one expected, has gaps, or holds a token longer than 255 bytes.
    """
    if hashlib.sha256(rank_file).hexdigest() != RANK_FILE_SHA256:
        raise ValueError("this is not tiktoken's o200k_base rank file: its sha256 differs")
    tokens: list[bytes] = []
    for line in rank_file.splitlines():
        token, rank = line.split()
        if int(rank) != len(tokens):
            raise ValueError(f"rank {len(tokens)} is missing")
        tokens.append(base64.b64decode(token))
    return b"".join(bytes([len(token)]) + token for token in tokens)


def main() -> None:
    source, target = map(Path, sys.argv[1:])
    packed = lzma.compress(compact(source.read_bytes()), preset=9 | lzma.PRESET_EXTREME)
    target.write_bytes(packed)
    print(f"{target}: {len(packed):,} bytes, sha256 {hashlib.sha256(packed).hexdigest()}")


if __name__ == "__main__":
    main()
