"""Pages of a service that has keys; and one that goes away and comes back."""

import time
from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.support.browser import PATIENCE, opened
from tests.support.served import COLOURS, Server, made, serving, url_of
from thrifty.cli import main

PAGE = "/experiments/colours"


def test_a_session_begins_with_a_key_and_ends_with_it(browser: Browser, tmp_path: Path) -> None:
    boss, reader = made(tmp_path, "boss", "admin"), made(tmp_path, "reader", "read")
    headers = {"authorization": f"Bearer {boss}"}
    with serving(tmp_path) as (server, api):
        assert api.put("/v1/experiments/colours", json=COLOURS, headers=headers).status_code == 201
        with opened(browser, server.url, "401 (Unauthorized)", "403 (Forbidden)", "Response Status") as page:
            page.clock.install()
            page.goto(PAGE)
            expect(page.get_by_label("Key")).to_be_focused()
            page.keyboard.type("thrifty-1-nonsense")
            page.keyboard.press("Enter")
            expect(page.get_by_role("alert").filter(has_text="no key")).to_be_visible()
            page.get_by_label("Key").fill(boss)
            page.get_by_role("button", name="Sign in").click()
            expect(page.get_by_role("heading", level=1)).to_have_text("colours")
            assert page.evaluate("document.cookie") == ""  # no script can read it
            page.get_by_role("button", name="Archive").click()
            page.get_by_role("dialog").get_by_role("button", name="Archive").click()
            expect(page.locator(".titled .badge")).to_have_text("archived")
            expect(page.locator(".changes")).to_contain_text("boss")
            forged = page.request.post(f"{PAGE}/change", form={"what": "restore", "token": "0" * 64})
            assert forged.status == 403
            assert api.get("/v1/experiments/colours", headers=headers).json()["archived"]
            page.get_by_role("button", name="Sign out").click()
            expect(page.get_by_label("Key")).to_be_visible()
            page.goto(PAGE)
            page.get_by_label("Key").fill(reader)
            page.keyboard.press("Enter")
            expect(page.get_by_text("Key reader")).to_be_visible()
            expect(page.get_by_role("button", name="Bring back")).to_have_count(0)
            expect(page.get_by_role("button", name="Remove red")).to_have_count(0)
            main(["keys", "revoke", "reader", "--store", url_of(tmp_path)])
            end = time.monotonic() + PATIENCE / 1000
            while not page.get_by_label("Key").is_visible():  # by itself
                assert time.monotonic() < end
                page.clock.run_for(5_000)
                time.sleep(0.1)


def test_a_server_that_is_lost_is_missed_and_found_again(browser: Browser, tmp_path: Path) -> None:
    with serving(tmp_path) as (server, api):
        api.put("/v1/experiments/colours", json=COLOURS)
        with opened(browser, server.url, "Failed to load resource", "htmx:", "Response Status") as page:
            page.clock.install()
            page.goto(PAGE)
            expect(page.locator("#live")).to_have_text("Live")
            server.stop()
            page.clock.run_for(6_000)
            expect(page.locator("#lost")).to_contain_text("has not answered since")
            expect(page.locator("#live")).to_have_text("Lost")
            again = Server(tmp_path, "--port", server.url.rpartition(":")[2], real=True)
            try:
                with opened(browser, again.url, "503 (Service Unavailable)") as early:
                    early.goto("/")  # while it starts, a page says so and loads itself again
                    expect(early.get_by_role("link", name="colours")).to_be_visible(timeout=60_000)
                page.clock.run_for(6_000)
                expect(page.locator("#lost")).to_be_hidden()
                expect(page.locator("#live")).to_have_text("Live")
                page.get_by_role(
                    "button", name="Pause", exact=True
                ).first.click()  # by a form of the new server
                page.get_by_role("dialog").get_by_role("button", name="Pause").click()
                expect(page.locator(".titled .badge")).to_have_text("paused")
            finally:
                again.stop()
