"""The picture of the page of an experiment, docs/page.png: the shop of `thrifty demo`, in a real browser.

    uv run python docs/pictures/page.py

It needs Chromium in the PATH, and takes some two minutes: a picture of nothing says nothing.
"""

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent
WIDTH, HEIGHT = 1280, 1215


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--experiment", default="shop")
    parser.add_argument("--seconds", type=float, default=100.0, help="of traffic (default: 100)")
    parser.add_argument("--scheme", choices=("light", "dark"), default="light")
    parser.add_argument("--out", type=Path, default=HERE.parent / "page.png")
    options = parser.parse_args()
    program = "import sys; from thrifty.cli import main; sys.exit(main())"
    demo = subprocess.Popen([sys.executable, "-u", "-c", program, "demo"], stdout=subprocess.PIPE, text=True)
    try:
        assert demo.stdout is not None
        url = next(found[0] for line in demo.stdout if (found := re.search(r"http://[\w.:]+", line)))
        with sync_playwright() as playwright:
            path = shutil.which("chromium") or shutil.which("google-chrome")
            browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
            page = browser.new_page(
                viewport={"width": WIDTH, "height": HEIGHT}, locale="en-GB", color_scheme=options.scheme
            )
            page.goto(f"{url}/experiments/{options.experiment}")
            page.wait_for_timeout(1000.0 * options.seconds)
            page.screenshot(path=options.out)
            browser.close()
        print(f"wrote {options.out}")
    finally:
        demo.terminate()
        demo.wait(30)


if __name__ == "__main__":
    main()
