"""``/openapi.json``: the contract as OpenAPI 3.1, made from ``messages`` and the table of paths."""

from importlib.metadata import version
from typing import Any, NamedTuple

import msgspec

from thrifty.serve import messages

REF = "#/components/schemas/{name}"


class Operation(NamedTuple):
    """A method of a path."""

    summary: str
    scope: str  # that a key needs; "" if none is needed
    body: Any = None  # its type
    answers: tuple[tuple[int, Any], ...] = ()  # statuses and types; what is refused comes besides
    query: tuple[tuple[str, dict[str, Any]], ...] = ()
    media: str = "application/json"


REFUSED = {
    "body": (400, 408, 413, 415, 422),
    "name": (404, 422),
    "all": (421, 500, 503),
    "key": (401, 403),
}


def document(paths: dict[str, dict[str, Operation]]) -> dict[str, Any]:
    """The whole document, from the operations of each path by their methods."""
    types: list[Any] = [messages.Problem]
    for operation in (one for methods in paths.values() for one in methods.values()):
        types += [kind for kind in (operation.body, *(kind for _, kind in operation.answers)) if kind]
    unique = list(dict.fromkeys(types))
    schemas, components = msgspec.json.schema_components(unique, ref_template=REF)
    by_type = dict(zip(unique, schemas, strict=True))
    return {
        "openapi": "3.1.0",
        "info": {"title": "thrifty", "version": version("thrifty"), "description": "Decisions and rewards."},
        "paths": {
            path: {method.lower(): _operation(path, one, by_type) for method, one in methods.items()}
            for path, methods in paths.items()
        },
        "components": {
            "schemas": components,
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(path: str, one: Operation, schemas: dict[Any, Any]) -> dict[str, Any]:
    names = [part.strip("{}") for part in path.split("/") if part.startswith("{")]
    refused = [*REFUSED["all"]]
    refused += REFUSED["body"] if one.body else ()
    refused += REFUSED["name"] if names else ()
    refused += (409,) if one.body else ()
    refused += REFUSED["key"] if one.scope else ()
    refused += (422,) if one.query else ()
    answers: dict[str, Any] = {}
    for status, kind in one.answers:
        schema = {"schema": schemas[kind]} if kind else {}
        content = {one.media: schema} if kind or one.media != "application/json" else {}
        answers[str(status)] = {"description": "done"} | ({"content": content} if content else {})
    problem = {"application/problem+json": {"schema": schemas[messages.Problem]}}
    for status in sorted(set(refused)):
        answers[str(status)] = {"description": "refused", "content": problem}
    found: dict[str, Any] = {"summary": one.summary, "responses": answers}
    text = {"type": "string", "minLength": 1, "maxLength": 200}
    parameters = [{"name": name, "in": "path", "required": True, "schema": text} for name in names]
    parameters += [
        {"name": name, "in": "query", "required": False, "schema": what} for name, what in one.query
    ]
    if parameters:
        found["parameters"] = parameters
    if one.body:
        found["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": schemas[one.body]}},
        }
    if one.scope:
        found["security"] = [{"key": []}, {}]
        found["description"] = f"Needs a key with the scope {one.scope}, as soon as there is a key."
    return found
