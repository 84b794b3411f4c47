"""A real browser, and pages in it that are watched."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Dialog, Page, expect, sync_playwright

FLAGS = [
    "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
PATIENCE = 30_000  # milliseconds: machines are slow, and a policy may have to be compiled
expect.set_options(timeout=PATIENCE)


def chromium() -> str:
    """Where it is. A newcomer may be without."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        reason = "these tests need a browser: `apt-get install chromium`, or another Chromium in the PATH"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return found


@contextmanager
def browsing() -> Iterator[Browser]:
    path = chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened(browser: Browser, url: str, *errors: str, **options: Any) -> Iterator[Page]:
    """A page of a server, with an eye on what goes wrong in it. Only these ``errors`` are expected in its
    console; nothing is asked of another host, and no name of an arm is run as a script."""
    said: list[str] = []
    asked: set[str] = set()

    def dismiss(dialog: Dialog) -> None:
        said.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    context = browser.new_context(base_url=url, locale="en-GB", **options)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.on("console", lambda one: said.append(one.text) if one.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.add(request.url))
    page.on("dialog", dismiss)
    try:
        yield page
        wrong = [text for text in said if not any(error in text for error in errors)]
        assert not wrong, wrong
        hosts = {urlsplit(one).netloc for one in asked if urlsplit(one).scheme not in ("data", "blob")}
        assert hosts <= {urlsplit(url).netloc}
    finally:
        context.close()
