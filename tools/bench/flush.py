"""flush [FRAMES [FLOWS]]: what `sojournd flush` takes to read a capture (1000000 frames, 8 flows), and to watch TCP.

The second table is of 10 s of TCP at 100 Mbit/s between network namespaces of its own, if this machine allows them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.bench import ROOT, built, head, row, spent

#: Follows the bed of the tests, which has the functions `daemon`, `stop` and `finish`.
LIVE = """
daemon --metrics 127.0.0.1:9469
spent() { awk '{ print $14 + $15 }' "/proc/$PID/stat"; }
python3 sender.py 10.77.2.1 2
before=$(spent)
python3 sender.py 10.77.2.1 10
after=$(spent)
stop
finish
tail -n 1 live.jsonl | grep -o '"segments":[0-9]*' >&4
tail -n 1 live.log | grep -o '"dropped":[0-9]*' >&4
echo $((after - before)) >&4
"""


def main() -> None:
    """Measure, and print."""
    frames, flows = [*sys.argv[1:], *("1000000", "8")[len(sys.argv) - 1 :]]
    can = subprocess.run(
        [ROOT / "scripts/capture-features"], stdout=subprocess.PIPE, text=True, check=True
    ).stdout.split()
    program = built("sojourn-live", "bin", "sojournd", *can)
    with tempfile.TemporaryDirectory() as name:
        capture, lines = Path(name, "capture.pcap"), Path(name, "lines")
        subprocess.run([built("sojourn-trace", "example", "synthesize"), frames, flows, capture], check=True)
        head("flusher", "frames", "plans", "processor time, s", "elapsed, s", "memory, MB")
        for preset in ("as_written", "as_described", "adaptive"):
            words: list[str | Path] = [
                program,
                "flush",
                "--read",
                capture,
                "--flusher",
                preset,
                "--active",
                "--allow",
                "198.51.100.0/24",
            ]
            with lines.open("wb") as out:
                runs = [spent(words, out=out) for _ in range(3)]
            # A child's memory is counted from before its program begins, so this process is to stay small.
            last = subprocess.run(["tail", "-n", "1", lines], stdout=subprocess.PIPE, check=True).stdout
            summary = json.loads(last)
            row(preset, summary["frames"], summary["plans"], *(f"{min(run):.2f}" for run in zip(*runs, strict=True)))
        if not can:
            return
        Path(name, "live.sh").write_text((ROOT / "crates/sojourn-live/tests/it/flush_live/bed.sh").read_text() + LIVE)
        place = {"DIR": name, "DAEMON": str(program), "NAME": "live"}
        link = {"RATE": "100mbit", "BURST": "50kb", "LIMIT": "600kb"}
        bed = ["sh", "-c", f"exec unshare -Urn bash {name}/live.sh 4>&1 >/dev/null"]
        done = subprocess.run(bed, env=os.environ | place | link, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            sys.exit("flush: no namespaces here, so nothing was captured")
        *counts, ticks = done.stdout.split()
        share = 10 * int(ticks) / os.sysconf("SC_CLK_TCK")
        print(f"\n{' '.join(counts)}; live at 100 Mbit/s: {share:.1f} % of a core over 10 s")


if __name__ == "__main__":
    main()
