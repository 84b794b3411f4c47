"""Files that pages load: styles, scripts, the icon. They are named with a hash of what is in them."""

import gzip
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from thrifty import look
from thrifty.serve.service import Missing

FOLDER = Path(__file__).parent / "static"
MEDIA = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


class File(NamedTuple):
    content: bytes
    zipped: bytes
    media: str
    hash: str


@cache
def found() -> dict[str, File]:
    """All of them, by name."""
    files = {}
    for path in sorted(FOLDER.rglob("*")):
        if path.suffix in MEDIA:
            content = path.read_bytes()
            if path.name == "page.css":
                content = look.CSS.encode() + content
            zipped = gzip.compress(content, mtime=0)
            files[path.name] = File(content, zipped, MEDIA[path.suffix], sha256(content).hexdigest()[:12])
    return files


def address(name: str) -> str:
    """The path of a file: another one when what is in it changes."""
    return f"/static/{found()[name].hash}/{name}"


def answer(request: Request, name: str) -> Response:
    """A file, if the browser does not have it."""
    file = found().get(name)
    if file is None:
        raise Missing("there is no such file")
    tag = f'"{file.hash}"'
    headers = {"etag": tag, "vary": "accept-encoding"}
    current = request.path_params.get("hash") == file.hash
    headers["cache-control"] = "public, max-age=31536000, immutable" if current else "no-cache"
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(file.zipped, headers={**headers, "content-encoding": "gzip"}, media_type=file.media)
    return Response(file.content, headers=headers, media_type=file.media)
