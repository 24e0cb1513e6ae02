"""The series of a file: samples, and their values on the grid that all series of a file share."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sojourn.bounds import Plain
from sojourn.interop.flent.naming import UNIT_RATE, UNIT_TIME, Computed, Naming
from sojourn.record import Record
from sojourn.schema import or_null, required
from sojourn.stats.jain import jain

#: Flent's `STEP_SIZE`: the step of the grid.
STEP_S = 0.2

#: A point of the grid has no value if the nearest sample is more than so many steps away.
_REACH = 5

Values = list[float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One measured series."""

    #: As Flent calls it.
    name: str
    #: As Flent spells it.
    unit: str
    #: When the samples were taken, from the beginning of the measured window, rising.
    t_s: Sequence[float]
    #: What was measured; `None` where nothing was.
    values: Sequence[float | None]
    #: What is known of the whole series, by Flent's keys; `MEAN_VALUE` is over the measured window.
    meta: Mapping[str, Plain] = field(default_factory=dict)
    #: Further facts of each sample, by Flent's keys.
    raw: Mapping[str, Sequence[Plain]] = field(default_factory=dict)
    #: Series of the same samples that are shown on their own, by the last part of their name.
    parts: dict[str, Sequence[float | None]] = field(default_factory=dict)


def measured(record: Record, naming: Naming) -> list[Series]:
    """Return the series of the flows, the probes, the voice streams and the pages of a record."""
    return [*_flows(record, naming), *_probes(record, naming), *_voip(record), *_web(record)]


def on_grid(t_s: Sequence[float], values: Sequence[float | None], grid: Sequence[float]) -> Values:
    """Return the values at the times of the grid, interpolated linearly between the samples that have one.

    Outside the samples, and where the nearest is too far away, there is none.
    """
    known = [(t, value) for t, value in zip(t_s, values, strict=True) if value is not None]
    times = [t for t, _ in known]
    found: Values = []
    for at in grid:
        right = bisect_left(times, at - 1e-9)
        if right == len(times) or (right == 0 and times[0] > at + 1e-9):
            found.append(None)
            continue
        after, value = known[right]
        if after <= at + 1e-9:
            found.append(value)
            continue
        before, last = known[right - 1]
        near = min(at - before, after - at) <= _REACH * STEP_S
        found.append(last + (value - last) * (at - before) / (after - before) if near else None)
    return found


def compute(computed: Computed, results: dict[str, Values]) -> Values:
    """Return a computed series; a point has a value if any of its sources has one."""
    rows = zip(*(results[name] for name in computed.of), strict=True)
    return [_combine(computed.how, [value for value in row if value is not None]) for row in rows]


def _combine(how: str, there: list[float]) -> float | None:
    if not there:
        return None
    if how == "fairness":
        return jain(there) if any(there) else None
    return sum(there) / (len(there) if how == "average" else 1)


def _flows(record: Record, naming: Naming) -> list[Series]:
    stored = record.series
    mss = record.scenario["tcp"]["mss"]
    found = []
    for flow in record.flows:
        # A UDP flow has no window.
        cwnd = stored.cwnd_segments.get(flow.name)
        window: dict[str, Sequence[float | None]] = {} if cwnd is None else {"tcp_cwnd": cwnd}
        meta = {
            "MEAN_VALUE": flow.goodput_mbit,
            "CONG_CONTROL": flow.congestion_control,
            "TCP_MSS": mss,
            "TCP_RETRANSMIT": flow.retransmissions,
        }
        found.append(
            Series(
                name=naming.flows[flow.name],
                unit=UNIT_RATE,
                t_s=stored.t_s,
                values=stored.goodput_mbit[flow.name],
                meta=meta,
                raw={"dur": [stored.interval_s] * len(stored.t_s), **window},
                parts=window,
            )
        )
    return found


def _probes(record: Record, naming: Naming) -> list[Series]:
    found = []
    for probe in record.probes:
        if probe.name not in naming.probes:
            continue
        stored = record.series.rtt[probe.name]
        rtt = required(probe.rtt_ms, "rtt_ms")
        meta = {f"{word.upper()}_VALUE": getattr(rtt, word) for word in ("mean", "min", "max")} if rtt.count else {}
        found.append(
            Series(
                name=naming.probes[probe.name],
                unit=UNIT_TIME,
                t_s=stored.t_s,
                values=stored.rtt_ms,
                meta=meta,
                raw={"seq": range(len(stored.t_s))},
            )
        )
    return found


def _voip(record: Record) -> list[Series]:
    """Return the series of the first voice stream; Flent's tests have one.

    A record has bins and no packets. The samples of `VoIP` are made of these: as many as arrived, with the mean delay
    of their bin and the mean variation of the run, so that what Flent computes of them (means, loss, MOS) is right and
    what it cannot know (the distribution within a bin) is not there.
    """
    probe = next((probe for probe in record.probes if probe.kind == "voip"), None)
    if probe is None:
        return []
    stored = record.series.voip[probe.name]
    times, width = stored.t_s, record.series.interval_s
    arrived = [sent - lost for sent, lost in zip(stored.sent, stored.lost, strict=True)]
    # Kilobits of voice in one packet, by the width of a bin in seconds.
    bitrate, frame = required(probe.bitrate_kbit, "bitrate_kbit"), required(probe.frame_ms, "frame_ms")
    per_packet = bitrate * frame / 1000 / width
    delay, ipdv = required(probe.delay_ms, "delay_ms"), or_null(probe.ipdv_ms)
    way = probe.direction
    meta = {
        "PACKETS_SENT": probe.sent,
        "PACKETS_RECEIVED": probe.sent - probe.lost,
        "PACKET_LOSS_RATE": probe.lost / probe.sent if probe.sent else None,
        f"OWD_{way.upper()}_MEAN": delay.mean,
        f"IPDV_{way.upper()}_MEAN": ipdv,
    }
    t_s, values, seq = [], [], []
    number = 0
    for end, mean, sent, came in zip(times, stored.delay_ms, stored.sent, arrived, strict=True):
        for place in range(came):
            t_s.append(end - width + width * (place + 0.5) / sent)
            values.append(mean)
            seq.append(number + place)
        number += sent
    packets = Series(
        name="VoIP",
        unit=UNIT_TIME,
        t_s=t_s,
        values=values,
        meta=meta,
        raw={"seq": seq, f"owd_{way}": values, f"ipdv_{way}": [ipdv] * len(seq)},
    )
    nothing: list[float | None] = [None] * len(times)
    start = min((value for value in stored.delay_ms if value is not None), default=0.0)
    induced = [None if value is None else value - start for value in stored.delay_ms]
    counted: dict[str, tuple[str, Sequence[float | None], Mapping[str, Plain]]] = {
        "bitrate": ("Kbits/s", [count * per_packet for count in arrived], {}),
        "delay": (UNIT_TIME, stored.delay_ms, {"MEAN_VALUE": delay.mean} if delay.count else {}),
        "induced_delay": (UNIT_TIME, induced, {}),
        "jitter": (UNIT_TIME, nothing, {"MEAN_VALUE": ipdv}),
        "loss": ("count", stored.lost, {}),
    }
    return [
        packets,
        *(
            Series(name=f"VoIP::{word}", unit=unit, t_s=times, values=values, meta=meta)
            for word, (unit, values, meta) in counted.items()
        ),
    ]


def _web(record: Record) -> list[Series]:
    clients = record.web or []
    found = []
    for number, client in enumerate(clients, 1):
        fetches = sorted((fetch.start_s + fetch.time_s, fetch.time_s * 1000) for fetch in client.fetches)
        found.append(
            Series(
                name="HTTP latency" if len(clients) == 1 else f"HTTP latency::{number}",
                unit=UNIT_TIME,
                t_s=[end for end, _ in fetches],
                values=[time for _, time in fetches],
                meta={} if (mean := client.time_s.mean) is None else {"MEAN_VALUE": mean * 1000},
            )
        )
    return found
