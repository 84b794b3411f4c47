"""The page of a reproduction in a real browser."""

import re

from playwright.sync_api import Browser, Page

from tests.report.test_page import example


def lightness(page: Page, what: str) -> int:
    """Of what lies behind something, from 0 to 765."""
    colour = page.locator(what).first.evaluate("one => getComputedStyle(one).backgroundColor")
    return sum(map(int, re.findall(r"\d+", colour)[:3]))


def test_it_is_dark_where_that_is_wanted_but_for_its_figures_and_fits_a_phone(browser: Browser) -> None:
    for width in (1280, 360):
        for scheme in ("light", "dark"):
            with browser.new_context(viewport={"width": width, "height": 640}) as context:
                page = context.new_page()
                page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
                page.set_content(example())
                assert page.evaluate("document.documentElement.scrollWidth") == width
                for what in ("body", ".bar", "figure", ".card"):
                    assert (lightness(page, what) > 600) == (scheme == "light"), (what, scheme)
                assert lightness(page, "img") == 3 * 255  # lines are drawn for white
