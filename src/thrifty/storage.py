"""Self-describing array files: a ``.npz`` whose entry ``header`` is JSON; no pickle, written atomically."""

import json
import os
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from thrifty.errors import FileError

FORMAT = 2
Arrays = dict[str, NDArray[Any]]

# What NumPy and zipfile raise on a file that was cut off, changed or never theirs.
DAMAGE = (
    AttributeError,
    EOFError,
    KeyError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
    zipfile.BadZipFile,
    zlib.error,
)


def write(path: Path, header: Mapping[str, Any], arrays: Arrays, *, compressed: bool = True) -> None:
    """Write header and arrays. NumPy dates every entry alike, so equal data give equal bytes."""
    text = json.dumps({"format": FORMAT, **header}, sort_keys=True)
    contents: dict[str, Any] = {"header": np.array(text), **arrays}
    save = np.savez_compressed if compressed else np.savez
    replace(path, lambda file: save(file, **contents))


def read(path: Path, what: str = "result file") -> tuple[dict[str, Any], Arrays]:
    """The header and the arrays of a file that ``write`` made."""
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        header = json.loads(str(arrays.pop("header")))
        version = header["format"]
    except DAMAGE as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise  # not there, or not readable
        raise FileError(f"{path} is not a whole {what} of thrifty (.npz)") from None
    if version != FORMAT:
        advice = ": upgrade thrifty" if isinstance(version, int) and version > FORMAT else ""
        raise FileError(f"{path} has format {version!r}, this version of thrifty reads {FORMAT}{advice}")
    return header, arrays


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
