"""quic [FOLDER]: runs QUIC connections of quinn-proto beside TCP in the simulator, and draws their congestion windows.

`make quic` sets up first. It compiles examples/quic, which is a workspace of its own, with a TLS library, for which a C
compiler is needed. In FOLDER (out/quic) windows.csv has the windows over time, and quic.png is their picture.
"""

from __future__ import annotations

import argparse
import csv
import subprocess
from pathlib import Path

from matplotlib.figure import Figure

from sojourn.plots.save import to_bytes
from sojourn.plots.style import house_style

ROOT = Path(__file__).resolve().parents[1]
#: Of each column: label, colour and width of its line.
LINES = {
    "quic_cwnd_bytes": ("QUIC (quinn-proto, CUBIC)", "#D55E00", 2.0),
    "tcp_1_cwnd_bytes": ("TCP 1 (CUBIC)", "#0072B2", 1.2),
    "tcp_2_cwnd_bytes": ("TCP 2 (CUBIC)", "#56B4E9", 1.2),
}


def main() -> None:
    """Run the example and draw what it prints."""
    parser = argparse.ArgumentParser(prog="quic", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "out/quic")
    folder: Path = parser.parse_args().folder
    manifest = ROOT / "examples/quic/Cargo.toml"
    cargo = ["cargo", "run", "--quiet", "--release", "--locked", "--manifest-path", str(manifest)]
    text = subprocess.run(cargo, stdout=subprocess.PIPE, text=True, check=True).stdout
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "windows.csv").write_text(text, encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    times = [float(row["time_s"]) for row in rows]
    with house_style():
        figure = Figure(figsize=(8, 4))
        axes = figure.add_subplot()
        for column, (label, colour, width) in LINES.items():
            axes.plot(times, [int(row[column]) / 1000 for row in rows], label=label, color=colour, linewidth=width)
        axes.set(xlabel="time, s", ylabel="congestion window, kB", xlim=(0, times[-1]), ylim=(0, None))
        axes.set_title("QUIC beside two TCP flows through FQ-CoDel, 10 Mbit/s and 50 ms")
        axes.legend()
    (folder / "quic.png").write_bytes(to_bytes(figure, "png"))


if __name__ == "__main__":
    main()
