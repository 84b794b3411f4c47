"""Self-describing array files: a ``.npz`` whose entry ``header`` is JSON; no pickle, written atomically."""

import io
import json
import os
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from thrifty.errors import FileError
from thrifty.interrupts import uninterrupted

FORMAT = 2
HEADER = 10**8  # bytes at most
Arrays = dict[str, NDArray[Any]]

# What files hold, by the word in their header; those of results have none.
KINDS = {"result": "result file", "bandit": "snapshot of a bandit", "chunk": "chunk of a sweep"}
READERS = {"result": "Result.load", "bandit": "Bandit.load"}


def write(path: Path, header: Mapping[str, Any], arrays: Arrays, *, compressed: bool = True) -> None:
    """Write header and arrays. NumPy dates every entry alike, so equal data give equal bytes."""
    text = json.dumps({"format": FORMAT, **header}, sort_keys=True)
    contents: dict[str, Any] = {"header": np.array(text), **arrays}
    save = np.savez_compressed if compressed else np.savez

    def fill(file: IO[bytes]) -> None:
        with uninterrupted():  # in a zip file Ctrl-C becomes a ValueError of its clean-up, or is lost
            save(file, **contents)

    replace(path, fill)


def read(path: Path, kind: str = "result", *, compressed: bool = True) -> tuple[dict[str, Any], Arrays]:
    """The header and the arrays of a file that ``write`` made, of this kind.

    What is not ``compressed`` takes no more memory than the file does.
    """
    what = KINDS[kind]
    try:
        with zipfile.ZipFile(path) as file:
            entries = {entry.filename.removesuffix(".npy"): entry for entry in file.infolist()}
            first = entries.pop("header")
            header = json.loads(str(_array(file.read(first)))) if first.file_size <= HEADER else {}
            version, found = header["format"], str(header.get("kind", "result"))
            if version == FORMAT and found == kind:
                if not compressed and any(entry.compress_type for entry in entries.values()):
                    raise ValueError("compressed")
                arrays = {name: _array(file.read(entry)) for name, entry in entries.items()}
    except Exception as error:  # zipfile, NumPy and JSON raise anything on a file that was cut off or changed
        if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.filename is not None):
            raise  # too large; not there, or not readable
        raise FileError(f"{path} is not a whole {what} of thrifty (.npz)") from None
    if version != FORMAT:
        advice = ": upgrade thrifty" if isinstance(version, int) and version > FORMAT else ""
        raise FileError(f"{path} has format {version!r}, this version of thrifty reads {FORMAT}{advice}")
    if found != kind:
        reader = f", which {READERS[found]} reads" if found in READERS else ""
        other = f": it is a {KINDS[found]}{reader}" if found in KINDS else ""
        raise FileError(f"{path} is not a {what}{other}")
    return header, arrays


def _array(data: bytes) -> NDArray[Any]:
    """An array of an .npz file, without a copy; never one of objects, and never more than is there."""
    stream = io.BytesIO(data)
    read = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
    shape, by_columns, dtype = read[npy.read_magic(stream)](stream)
    if dtype.hasobject:
        raise ValueError("objects")
    return np.frombuffer(data, dtype, offset=stream.tell()).reshape(shape, order="F" if by_columns else "C")


def replace(path: Path, fill: Callable[[IO[bytes]], object]) -> None:
    """Write a file so that it is either the old one or the whole new one, whatever happens in between."""
    if not path.parent.is_dir():
        raise FileError(f"cannot write {path}: there is no folder {path.parent}")
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            fill(file)
            file.flush()
            os.fsync(file.fileno())  # on the disk before it has the name: the power may fail too
        part.chmod(0o666 & ~_umask())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def writable(folder: Path) -> Path:
    """Make the folder and try to write there: before hours of work, not after them."""
    try:
        for part in (*reversed(folder.parents), folder):
            if part.exists() and not part.is_dir():
                raise FileError(f"results need a folder, and {part} is a file")
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        raise FileError(f"cannot make or write to the folder {folder}: {error.strerror}") from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
