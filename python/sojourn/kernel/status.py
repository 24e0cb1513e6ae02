"""What there is to run on and what is missing, for people and as JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sojourn.kernel import cache, source, tools
from sojourn.kernel.find import CHOICE, INSTALL, INSTALL_WIFI, NAMED, VARIABLE, Candidate, Kernel, candidates

FORMAT = "sojourn-kernel-status/1"

_PLACES = {
    "choice": CHOICE,
    "environment": VARIABLE,
    "cache": "built",
    "stock": "user-mode-linux",
    "host": "this machine",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """All that is known.

    Attributes
    ----------
    candidates, wifi
        The places that a kernel is looked for, in order; and those of a kernel for cells.
    cache
        The folder of the kernels that were built.
    sizes
        Bytes of each kernel in it, by name.
    sources
        Tarballs that a kernel can be built from, the newest first.
    missing
        Programs that a build needs and that are not there.
    """

    candidates: tuple[Candidate, ...]
    wifi: tuple[Candidate, ...]
    cache: Path
    sizes: dict[str, int]
    sources: tuple[Path, ...]
    missing: tuple[tools.Tool, ...]

    @property
    def chosen(self) -> Kernel | None:
        """The kernel that a run gets if it asks for none in particular."""
        return _first(self.candidates)

    @property
    def chosen_for_cells(self) -> Kernel | None:
        """The same for a run with a cell."""
        return _first(self.wifi)

    def as_json(self) -> dict[str, Any]:
        """Return it as one JSON object."""
        return {
            "format": FORMAT,
            "chosen": None if self.chosen is None else _kernel(self.chosen),
            "candidates": [_candidate(one) for one in self.candidates],
            "wifi": {
                "chosen": None if self.chosen_for_cells is None else _kernel(self.chosen_for_cells),
                "candidates": [_candidate(one) for one in self.wifi],
            },
            "cache": str(self.cache),
            "built": [{"name": name, "size_bytes": size} for name, size in self.sizes.items()],
            "build": {
                "sources": [str(path) for path in self.sources],
                "missing": [{"program": one.program, "package": one.package} for one in self.missing],
            },
        }

    def as_text(self) -> str:
        """Return it for people."""
        lines = []
        for one in self.candidates:
            mark = "->" if one.kernel is not None and one.kernel is self.chosen else "  "
            lines.append(f"{mark} {_PLACES[one.place]}: {_line(one)}")
        lines += ["", "For cells:"]
        for one in self.wifi:
            mark = "->" if one.kernel is not None and one.kernel is self.chosen_for_cells else "  "
            lines.append(f"{mark} {_PLACES[one.place]}: {_line(one)}")
        if self.chosen_for_cells is None:
            lines.append(f"   {INSTALL_WIFI}")
        lines.append("")
        if self.sizes:
            lines.append(f"In {self.cache}:")
            lines += [f"   {name}  {size / 1e6:.1f} MB" for name, size in self.sizes.items()]
        lines.append(self._to_build())
        if self.chosen is None:
            lines.append(f"No kernel can run. {INSTALL}")
        return "\n".join(lines)

    def _to_build(self) -> str:
        if self.missing:
            return f"To build one: {tools.missing_pieces(self.missing)}"
        if not self.sources:
            return "To build one: the kernel's source is missing: apt-get install linux-source"
        return f"To build one: all is there; `sojourn kernel build` takes {self.sources[0]}"


def status() -> Status:
    """Look everywhere; this takes a second at most."""
    built, _ = cache.built_kernels()
    return Status(
        candidates=tuple(candidates()),
        wifi=tuple(candidates(wifi=True)),
        cache=cache.kernels_folder(),
        sizes={one.name: one.size_bytes for one in built},
        sources=source.packages(),
        missing=tools.missing_tools(),
    )


def _first(places: tuple[Candidate, ...]) -> Kernel | None:
    """Return the first kernel; one that was named and cannot be used keeps all others out."""
    for one in places:
        if one.kernel is not None or one.place in NAMED:
            return one.kernel
    return None


def _candidate(one: Candidate) -> dict[str, Any]:
    return {
        "place": one.place,
        "kernel": None if one.kernel is None else _kernel(one.kernel),
        "why_not": one.why_not,
    }


def _line(one: Candidate) -> str:
    kernel = one.kernel
    if kernel is None:
        return f"no: {one.why_not}"
    time = "virtual time" if kernel.virtual_time else "real time"
    place = "" if kernel.path is None else f", {kernel.path}"
    lacks = f"; lacks {', '.join(kernel.lacks)}" if kernel.lacks else ""
    return f"Linux {kernel.release}, {time}{place}{lacks}"


def _kernel(kernel: Kernel) -> dict[str, Any]:
    return {
        **asdict(kernel),
        "path": None if kernel.path is None else str(kernel.path),
        "modules": [str(path) for path in kernel.modules],
        "lacks": list(kernel.lacks),
    }
