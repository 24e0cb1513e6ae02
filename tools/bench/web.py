"""web [ROUNDS]: how fast the simulator is in Chromium and Firefox, beside the native one; needs `make web`.

Each round (5) runs RRUL at 100/100 Mbit/s for 20 simulated seconds natively and in each browser, one after the other,
so that all have the same machine. The table has medians, and those of the browsers as shares of the native one.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from sojourn import _native, api
from tools.bench import ROOT, head, row

SIMULATED_S = 20
BROWSERS = ("chromium", "firefox-esr")


def native(text: str) -> float:
    """Return the seconds of a native run."""
    begun = time.perf_counter()
    _native.run(text)
    return time.perf_counter() - begun


def in_browser(browser: str, text: str) -> float:
    """Return the seconds of the second of two runs: the first waits for the compiler."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write(f"[{text}, {text}]")
        file.flush()
        records, name = ROOT / "web/tests/records.mjs", browser.removesuffix("-esr")
        command = ["node", str(records), name, file.name, str(shutil.which(browser))]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(json.loads(done.stdout)[1]["seconds"])


def main() -> None:
    """Measure, and print a table."""
    text = api.build("rrul", down="100mbit", up="100mbit", duration=f"{SIMULATED_S}s").normalized("sim")
    took: dict[str, list[float]] = {name: [] for name in ("native", *filter(shutil.which, BROWSERS))}
    for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 5):
        for name, times in took.items():
            times.append(native(text) if name == "native" else in_browser(name, text))
    medians = {name: statistics.median(times) for name, times in took.items()}
    head("where", "times real time", "of native")
    for name, median in medians.items():
        row(name, f"{SIMULATED_S / median:.0f}", f"{medians['native'] / median:.2f}")


if __name__ == "__main__":
    main()
