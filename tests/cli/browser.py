"""A real browser, driven by its command line: what a person would see of a page."""

import html
import re
import shutil
import subprocess
from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    # The frame and the page are two files, and the frame looks into the page.
    "--allow-file-access-from-files",
)

# Looks at the page in a frame of a given width, because a window cannot be as narrow as a phone.
_FRAME = """<!doctype html><meta charset="utf-8"><body style="margin:0">
<iframe id="page" src="{url}" style="width:{width}px;height:3000px;border:0"></iframe>
<pre id="seen"></pre><script>
document.getElementById("page").onload = (event) => {{
  const page = event.target.contentDocument, root = page.documentElement;
  const boxes = [...page.querySelectorAll("svg.chart")].map((svg) => svg.getBoundingClientRect());
  const ticks = [...page.querySelectorAll("svg.chart .tick")];
  const text = [...page.querySelectorAll("p, li, dd, td, code, span")].filter((node) => node.getClientRects().length);
  document.getElementById("seen").textContent = JSON.stringify({{
    width: root.clientWidth, scrolled: root.scrollWidth,
    charts: boxes.map((box) => [Math.round(box.width), Math.round(box.height)]),
    ticks: Math.min(...ticks.map((node) => node.getBoundingClientRect().height)),
    bars: page.querySelectorAll("svg.chart .bar").length,
    smallest: Math.min(...text.map((node) => parseFloat(getComputedStyle(node).fontSize))),
    verdict: page.querySelector("#verdict").innerText,
    overflowing: text.filter((node) => node.getBoundingClientRect().right > root.clientWidth + 1).length,
    body: page.body.innerText,
  }});
}};
</script>"""


def look(page: Path, width: int, scratch: Path) -> tuple[str, str]:
    """The frame's findings as JSON text, and what the console said."""
    frame = scratch / f"frame-{width}.html"
    frame.write_text(_FRAME.format(url=page.as_uri(), width=width), encoding="utf-8")
    assert CHROMIUM is not None
    command = [CHROMIUM, *FLAGS, f"--user-data-dir={scratch / f'profile-{width}'}", "--enable-logging=stderr"]
    command += ["--virtual-time-budget=3000", "--window-size=1500,1200", "--dump-dom", frame.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=90, check=False)
    found = re.search(r'<pre id="seen">(.*?)</pre>', done.stdout, re.DOTALL)
    assert found, done.stderr[-2000:]
    console = "\n".join(line for line in done.stderr.splitlines() if "CONSOLE" in line)
    return html.unescape(found[1]), console
