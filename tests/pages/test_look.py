"""What is seen on the pages of a service that anybody on the machine may use."""

import http.client
import json
import random
import re
import time
from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit
from zoneinfo import ZoneInfo

import httpx
import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.support.browser import PATIENCE, opened
from tests.support.served import serving

PROGRAM = """
import sys
from functools import partial

from thrifty.cli import main
from thrifty.serve import run
from thrifty.serve.truth import Truth


def truth(name):
    curves = {"thrifty": [0.0, 1.0, 1.5], "<b>dense</b>": [0.0, 1.0, 1.6], "uniform": [0.0, 2.0, 4.0]}
    return Truth([0.0, 1.0, 2.0], curves) if name == "colours" else None


run.create = partial(run.create, period=1, truth=truth)
sys.exit(main())
"""
MEANS = {"red": 0.1, "green": 0.7, "blue": 0.3, "<i>it</i>": 0.2}
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(2)>',
    "a/b?c#d%2e&amp;",
    "'}}{{7*7}}",
    "\u202egnp",
)
MANY = 100_000


class Served(NamedTuple):
    url: str
    api: httpx.Client


def traffic(api: httpx.Client, name: str, count: int) -> None:
    """Decisions and rewards."""
    made = api.post(f"/v1/experiments/{name}/decisions", json={"count": count}).json()["decisions"]
    chance = random.Random(1)
    rewards = [
        {"decision": one["id"], "reward": float(chance.random() < MEANS.get(one["arm"], 0.5))} for one in made
    ]
    assert api.post("/v1/rewards", json={"rewards": rewards}).status_code == 200


def arm(i: int) -> str:
    """One of many names that are not nice."""
    return f"{HOSTILE[i % len(HOSTILE)]} {i}"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("look"), program=PROGRAM) as (server, api):

        def create(name: str, arms: Any, **more: Any) -> None:
            definition = {"policy": {"name": "TSMA"}, "arms": arms, **more}
            raw = http.client.HTTPConnection(urlsplit(server.url).netloc)  # which leaves paths as they are
            path, headers = f"/v1/experiments/{quote(name, safe='')}", {"content-type": "application/json"}
            raw.request("PUT", path, json.dumps(definition), headers)
            assert raw.getresponse().status == 201
            raw.close()

        create("colours", list(MEANS), control=0.2)
        create("changed", ["one", "two", "three"])
        create("many", [arm(i) for i in range(MANY)])
        create("<b>a/b \"'", ["x", "y" * 200])
        create("..", 2)
        for _ in range(3):
            traffic(api, "colours", 400)
            traffic(api, "many", 20)
            time.sleep(1.0)
        for _ in range(PATIENCE // 100):
            shown = api.get("/experiments/colours/charts").json()
            curves = shown["curves"]
            if len(curves["times"]) >= 3 and any(curves["loss"]) and shown["densities"]["arms"]:
                break
            time.sleep(0.1)
        else:
            raise AssertionError(f"no three periods are over, or nobody looked: {shown}")
        yield Served(server.url, api)


def inked(page: Page, chart: str) -> int:
    """How many colours there are on a chart that are not grey: at least one for a line."""
    page.wait_for_selector(f"#{chart} canvas")
    found: int = page.evaluate(
        """(id) => {
            const canvas = document.querySelector(`#${id} canvas`);
            const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
            const seen = new Set();
            for (let i = 0; i < data.length; i += 4) {
                const [r, g, b, a] = data.slice(i, i + 4);
                if (a === 255 && Math.max(r, g, b) - Math.min(r, g, b) > 60)
                    seen.add((r << 16) | (g << 8) | b);
            }
            return seen.size;
        }""",
        chart,
    )
    return found


def test_all_experiments_are_listed_and_lead_to_their_pages(browser: Browser, served: Served) -> None:
    with opened(browser, served.url) as page:
        page.goto("/")
        row = page.get_by_role("row", name="colours")
        expect(row).to_contain_text("running")
        expect(row).to_contain_text("TS-MA")
        expect(row.get_by_role("img")).to_have_count(1)  # a sparkline
        for name in ("<b>a/b \"'", "..", "colours"):
            page.goto("/")
            page.get_by_role("link", name=name, exact=True).click()
            expect(page.get_by_role("heading", level=1)).to_have_text(name)
        expect(page.locator(".tiles")).to_contain_text("1,200")
        expect(page.locator(".known")).to_contain_text("is best with probability")
        expect(page.locator("#latest-title ~ table tbody tr")).to_have_count(12)
        expect(page.locator(".changes")).to_contain_text("local")


def test_charts_are_drawn_and_say_what_they_show(browser: Browser, served: Served) -> None:
    with opened(browser, served.url) as page:
        page.goto("/experiments/colours")
        expect(page.locator("#reward .nothing")).to_be_hidden()
        for chart in ("reward", "shares", "densities", "loss", "draws", "regret"):
            assert inked(page, chart) > 0, chart
        expect(page.locator("#reward")).to_have_attribute("aria-label", re.compile("policy 0.*control 0"))
        regret = page.locator("figure", has=page.locator("#regret"))
        expect(regret.locator(".legend")).to_contain_text("<b>dense</b>")
        page.goto("/experiments/changed")  # not simulated, and no reward yet
        expect(page.locator("#reward .nothing")).to_be_visible()
        expect(page.locator("#regret")).to_have_count(0)


NOTING = """
const { get } = Object.getOwnPropertyDescriptor(Intl.DateTimeFormat.prototype, "format");
window.written = [];
Object.defineProperty(Intl.DateTimeFormat.prototype, "format", {
    get() { const format = get.call(this); return (at) => (window.written.push(+at / 1000), format(at)); },
});
"""
TALL = """() => {
    const canvas = document.querySelector("#reward canvas");
    const { data, width, height } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let rows = 0;
    for (let y = 0; y < height; y++)
        for (let x = 0; x < width; x++) {
            const [r, g, b, a] = data.slice(4 * (y * width + x), 4 * (y * width + x) + 4);
            if (a > 60 && Math.max(r, g, b) - Math.min(r, g, b) > 60) { rows++; break; }
        }
    return rows;
}"""


def test_a_single_period_has_an_interval_and_its_own_time(browser: Browser, served: Served) -> None:
    """There is no neighbour to draw a line or a band to, and nothing to tell how long the axis is."""
    at = 1_700_000_000  # 17:13:20 in New York, on another day

    def one(route: Route) -> None:
        shown = route.fetch().json()
        side = {"mean": [0.5], "low": [0.25], "high": [0.75]}
        curves = {"times": [at], "decisions": [9], "policy": side, "control": None, "loss": [None]}
        shown["curves"] |= curves | {"shares": [["green", [1.0]]], "draws": [9], "dense": [9]}
        shown["truth"] = None
        route.fulfill(json=shown, headers={"etag": "one"})

    with opened(browser, served.url, timezone_id="America/New_York") as page:
        page.add_init_script(NOTING)
        page.route("**/charts", one)
        page.goto("/experiments/colours")
        figure = page.locator("figure", has=page.locator("#reward"))
        expect(figure.locator(".at")).to_have_text("14 Nov 17:13:20 (2023-11-14 22:13:20 UTC)")
        written = page.evaluate("window.written.filter((at) => at > 1e9 && at < 1.75e9)")  # on the axes
        assert len(written) > 5
        assert all(abs(time - at) <= 60 for time in written)
        assert page.evaluate(TALL) > 100  # pixels; a point has 5


def test_a_policy_without_a_posterior_has_means_with_intervals(browser: Browser, served: Served) -> None:
    def without(route: Route) -> None:
        shown = route.fetch().json()
        shown["densities"] = {"x": [], "arms": [], "intervals": [["<b>one</b>", 0.5, 0.25, 0.75]]}
        route.fulfill(json=shown)

    with opened(browser, served.url) as page:
        page.clock.install()
        page.goto("/experiments/colours")
        expect(page.locator("#densities canvas")).to_have_count(1)
        page.route("**/charts", without)  # as if the policy had been changed
        page.clock.run_for(10_000)
        expect(page.locator("#densities tr")).to_have_text("<b>one</b>0.5 (0.25 to 0.75)")
        expect(page.locator("#densities canvas")).to_have_count(0)
        page.unroute("**/charts")
        page.clock.run_for(10_000)
        expect(page.locator("#densities canvas")).to_have_count(1)
        expect(page.locator("#densities tr")).to_have_count(0)


def test_arms_of_which_much_is_known_and_those_with_most_traffic_may_be_others(
    browser: Browser, served: Served
) -> None:
    """Each chart names its six; an arm in both has one colour."""

    def others(route: Route) -> None:
        shown = route.fetch().json()
        curves, x = shown["curves"], [0.0, 1.0]
        curves["shares"] = [[f"arm {i}", [0.125] * len(curves["times"])] for i in (5, 6, 7, 8, 9, 10)]
        curves["shares"].append(["other arms", [0.25] * len(curves["times"])])
        curves["decisions"][-1] = 0  # the last share that is known is said
        shown["densities"] = {"x": x, "arms": [[f"arm {i}", [1.0, 1.0]] for i in range(6)], "intervals": []}
        route.fulfill(json=shown, headers={"etag": "new"})

    with opened(browser, served.url) as page:
        page.route("**/charts", others)
        page.goto("/experiments/colours")
        legends = [
            page.locator("figure", has=page.locator(f"#{chart}")).locator(".legend li:visible")
            for chart in ("shares", "densities")
        ]
        expect(legends[0]).to_have_count(7)
        assert {*legends[0].all_inner_texts()} == {
            "other arms\n25 %", *(f"arm {i}\n13 %" for i in range(5, 11))
        }  # fmt: skip
        assert {*legends[1].all_inner_texts()} == {f"arm {i}" for i in range(6)}
        both = [legend.filter(has_text="arm 5").locator(".swatch") for legend in legends]
        assert both[0].get_attribute("class") == both[1].get_attribute("class")


def test_a_browser_whose_clock_is_wrong_does_not_ask_all_the_time(browser: Browser, served: Served) -> None:
    asked: list[float] = []

    def ahead(route: Route) -> None:
        shown = route.fetch().json()
        shown["curves"]["times"] = [at + 40 * 86400 for at in shown["curves"]["times"]]
        asked.append(time.monotonic())
        route.fulfill(json=shown)

    with opened(browser, served.url) as page:
        page.route("**/charts", ahead)
        page.goto("/experiments/colours")
        page.wait_for_timeout(2000)
    assert len(asked) == 1


def test_arms_are_sorted_searched_and_paged_and_their_names_are_only_text(
    browser: Browser, served: Served
) -> None:
    with opened(browser, served.url) as page:
        page.goto("/experiments/many")
        names = page.locator("#arms tbody th .name")
        expect(page.locator("#arms")).to_contain_text("1 to 25")
        page.get_by_role("button", name="Arm", exact=True).click()
        wanted = sorted(arm(i) for i in range(MANY))
        expect(names.first).to_have_text(wanted[0])
        assert names.all_inner_texts() == wanted[:25]
        page.get_by_role("button", name="Arm", exact=True).click()
        expect(names.first).to_have_text(wanted[-1])
        page.get_by_role("button", name="Next").click()
        expect(page.locator("#arms")).to_contain_text("26 to 50")
        assert names.all_inner_texts() == wanted[-26:-51:-1]
        page.reload()  # the address has it
        expect(page.locator("#arms")).to_contain_text("26 to 50")
        for text in ("<script>alert(1)</script> 77", "onerror=alert(2)> 31", "'}}{{7*7}} 9"):
            page.get_by_role("searchbox").fill(text)
            found = [name for name in wanted[::-1] if text in name]
            expect(names.first).to_have_text(found[0])
            assert names.all_inner_texts() == found[:25]
        page.get_by_role("searchbox").fill("nowhere <b>")
        expect(page.locator("#arms")).to_contain_text("No arm has “nowhere <b>” in its name.")
        assert page.locator("main img, main script, .name *").count() == 0


def confirm(page: Page, button: str) -> None:
    """In the dialog, which goes."""
    page.get_by_role("dialog").get_by_role("button", name=button).click()
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_everything_is_changed_after_it_was_confirmed(browser: Browser, served: Served) -> None:
    url = "/v1/experiments/changed"
    with opened(browser, served.url) as page:
        page.goto("/experiments/changed")
        dialog, rows = page.get_by_role("dialog"), page.locator("#arms tbody tr")
        page.get_by_role("button", name="Add arms").click()
        dialog.get_by_label("Arms").fill("four\none\n")
        dialog.get_by_role("button", name="Add").click()
        expect(dialog.get_by_role("alert")).to_have_text("arms[1] must be a new arm, got 'one' again")
        expect(dialog.get_by_label("Arms")).to_have_value("four\none\n")
        dialog.get_by_label("Arms").fill("four\n<b>five</b>\n")
        confirm(page, "Add")
        expect(rows).to_have_count(5)
        page.get_by_role("button", name="Pause <b>five</b>").click()
        expect(dialog).to_contain_text("<b>five</b>")
        confirm(page, "Pause")
        expect(page.locator("#arms").get_by_role("row", name="<b>five</b>")).to_contain_text("paused")
        page.get_by_role("button", name="Remove four").click()
        dialog.get_by_text("Cancel").click()
        expect(dialog).to_have_count(0)
        expect(rows).to_have_count(5)
        page.get_by_role("button", name="Remove four").click()
        confirm(page, "Remove")
        expect(rows).to_have_count(4)
        page.get_by_role("button", name="Change policy").click()
        dialog.get_by_label("Parameters").fill('{"alpha": 7}')
        dialog.get_by_role("button", name="Change").click()
        expect(dialog.get_by_role("alert")).to_contain_text("alpha")
        dialog.get_by_label("Parameters").fill('{"alpha": 0.5}')
        page.evaluate("htmx.config.timeout = 200")  # more than that is for a policy that has to be compiled
        page.route("**/change", lambda route: (time.sleep(0.5), route.continue_()))
        confirm(page, "Change")
        page.evaluate("htmx.config.timeout = 10000")
        page.unroute("**/change")
        expect(page.locator(".policy")).to_have_text("TS-MA-0.5")
        for button, state in (("Pause", "paused"), ("Resume", "running"), ("Archive", "archived")):
            page.locator(".actions").get_by_role("button", name=button).click()
            confirm(page, button)
            expect(page.locator(".titled .badge")).to_have_text(state)
        assert served.api.get(url).json()["archived"]
        page.get_by_role("button", name="Bring back").click()
        confirm(page, "Bring back")
        expect(page.locator(".titled .badge")).to_have_text("running")
        expect(page.locator(".changes li")).to_have_count(9)
    kinds = [json.loads(line)["what"] for line in served.api.get(f"{url}/events").text.splitlines()]
    assert kinds == ["create", "add", "pause", "remove", *["patch"] * 5]


def test_changes_need_no_script(browser: Browser, served: Served) -> None:
    with opened(browser, served.url, java_script_enabled=False) as page:
        page.goto("/experiments/colours?search=e&sort=arm")
        expect(page.locator("#arms tbody th .name")).to_have_text(["blue", "green", "red"])
        page.get_by_role("button", name="Pause blue").click()
        expect(page.get_by_role("heading", name="Pause this arm?")).to_be_visible()
        page.get_by_role("button", name="Pause").click()
        expect(page.locator("#arms").get_by_role("row", name="blue")).to_contain_text("paused")
        page.get_by_role("button", name="Resume blue").click()
        page.get_by_role("button", name="Resume").click()
        expect(page.get_by_role("button", name="Pause blue")).to_be_visible()


def test_it_is_dark_where_that_is_wanted_and_fits_a_phone(browser: Browser, served: Served) -> None:
    lightness: dict[str, int] = {}
    for scheme in ("light", "dark"):
        phone = {"width": 360, "height": 640}
        with opened(browser, served.url, color_scheme=scheme, viewport=phone, has_touch=True) as page:
            for path in (
                "/",
                "/experiments/colours",
                "/experiments/many",
                "/experiments/%3Cb%3Ea%2Fb%20%22%27",
            ):
                page.goto(path)
                if path != "/":
                    expect(page.locator("#reward .nothing")).to_have_count(1)  # charts are there
                assert page.evaluate("document.documentElement.scrollWidth") == 360, path
            page.get_by_role("button", name="Change policy").click()
            box = page.get_by_role("dialog").bounding_box()
            assert box is not None
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= 360
            colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
            lightness[scheme] = sum(map(int, re.findall(r"\d+", colour)[:3]))
    assert lightness["light"] > 600
    assert lightness["dark"] < 150


def test_the_keyboard_alone_is_enough(browser: Browser, served: Served) -> None:
    def focused(page: Page) -> str:
        return str(page.evaluate("document.activeElement.textContent.trim()"))

    def tab_to(page: Page, text: str) -> None:
        for _ in range(60):
            if focused(page) == text:
                assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
                return
            page.keyboard.press("Tab")
        raise AssertionError(f"{text} cannot be reached")

    with opened(browser, served.url) as page:
        page.goto("/")
        page.keyboard.press("Tab")
        assert focused(page) == "Skip to the content"
        page.keyboard.press("Enter")
        tab_to(page, "colours")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text("colours")
        tab_to(page, "Change policy")
        page.keyboard.press("Enter")
        expect(page.get_by_label("Policy", exact=True)).to_be_focused()
        page.keyboard.press("Escape")
        expect(page.get_by_role("button", name="Change policy")).to_be_focused()
        tab_to(page, "Archive")
        for _ in range(3):  # the first chart, its values from the last to the first
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.id") == "reward":
                break
        legend = page.locator("figure", has=page.locator("#reward")).locator(".legend")
        last = legend.inner_text()
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("ArrowLeft")
        expect(legend).not_to_have_text(last)
        tab_to(page, "Add arms")
        page.keyboard.press("Enter")
        expect(page.get_by_role("dialog").get_by_label("Arms")).to_be_focused()
        page.keyboard.type("by hand")
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(page.locator("#arms").get_by_role("row", name="by hand")).to_be_visible()
        expect(page.get_by_role("button", name="Add arms")).to_be_focused()
        page.get_by_role("searchbox").focus()
        page.keyboard.type("by ha")
        expect(page.locator("#arms tbody tr")).to_have_count(1)
        tab_to(page, "Remove")
        page.keyboard.press("Enter")
        expect(page.get_by_role("dialog")).to_be_visible()
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(page.locator("#arms")).to_contain_text("No arm has")


def test_it_follows_what_happens_and_rests_when_nobody_looks(browser: Browser, served: Served) -> None:
    with opened(browser, served.url, timezone_id="Asia/Tokyo") as page:
        page.clock.install()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto("/experiments/colours")
        page.evaluate("document.getElementById('reward').firstChild.kept = true")
        decisions = page.locator(".tiles dd").first
        before = int(decisions.inner_text().replace(",", ""))
        traffic(served.api, "colours", 5)
        page.get_by_role("button", name="Archive").focus()
        page.clock.run_for(6_000)
        expect(decisions).to_have_text(f"{before + 5:,}")
        expect(page.get_by_role("button", name="Archive")).to_be_focused()
        time_shown = page.locator(".events time").first
        at = datetime.fromisoformat(str(time_shown.get_attribute("datetime")))
        expect(time_shown).to_have_text(f"{at.astimezone(ZoneInfo('Asia/Tokyo')):%H:%M:%S}")
        expect(time_shown).to_have_attribute("title", f"{at:%Y-%m-%d %H:%M:%S} UTC")
        page.evaluate("Object.defineProperty(document, 'hidden', {value: true, configurable: true})")
        page.wait_for_load_state("networkidle")
        asked.clear()
        page.clock.run_for(60_000)
        assert asked == []
        page.evaluate("delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))")
        page.wait_for_load_state("networkidle")
        assert {urlsplit(url).path.rpartition("/")[2] for url in asked} == {"live", "arms", "charts"}
        assert page.evaluate("document.getElementById('reward').firstChild.kept")  # nothing was drawn anew
