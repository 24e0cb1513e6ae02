import type { Frame } from "../engine/protocol";

// What the charts show of a run so far. It is bounded: when it is full, every second point goes, so that a long run stays
// smooth.

const MOST = 1200;

/** Points of some lines with common times. */
export class Track {
  t: number[] = [];
  readonly lines: (number | null)[][];
  private stride = 1;
  private skipped = 0;

  constructor(lines: number) {
    this.lines = Array.from({ length: lines }, () => []);
  }

  add(t: number, values: (number | null)[]): void {
    this.skipped += 1;
    if (this.skipped < this.stride) return;
    this.skipped = 0;
    this.t.push(t);
    this.lines.forEach((line, i) => line.push(values[i] ?? null));
    if (this.t.length < MOST) return;
    const half = <T>(all: T[]): T[] => all.filter((_, i) => i % 2 === 0);
    this.t = half(this.t);
    for (let i = 0; i < this.lines.length; i += 1) this.lines[i] = half(this.lines[i] as (number | null)[]);
    this.stride *= 2;
  }
}

/** Everything that is kept of a run. */
export class History {
  /** Round-trip times, ms. */
  readonly ping = new Track(1);
  /** Goodput of all flows up and down, Mbit/s, smoothed over a few frames. */
  readonly goodput = new Track(2);
  /** Congestion windows by flow, segments. */
  readonly cwnd: Track;
  /** Packets queued up and down. */
  readonly queued = new Track(2);
  /** Loads of pages: time and how long, s. */
  readonly pages = new Track(1);
  lost = 0;
  private readonly isUp: boolean[];
  private smooth: [number, number] | null = null;

  constructor(flows: string[], directionOf: (flow: string) => "up" | "down") {
    this.cwnd = new Track(flows.length);
    this.isUp = flows.map((flow) => directionOf(flow) === "up");
  }

  add(frame: Frame, stepS: number): void {
    for (let i = 0; i + 1 < frame.pings.length; i += 2) {
      const rtt = frame.pings[i + 1] as number;
      if (Number.isNaN(rtt)) this.lost += 1;
      this.ping.add(frame.pings[i] as number, [Number.isNaN(rtt) ? null : rtt]);
    }
    for (let i = 0; i + 1 < frame.pages.length; i += 2) {
      this.pages.add(frame.pages[i] as number, [frame.pages[i + 1] as number]);
    }
    const sums: [number, number] = [0, 0];
    frame.goodput.forEach((value, i) => (sums[this.isUp[i] ? 0 : 1] += value));
    // A filter of a fifth of a second, so that single packets at a slow speed do not make spikes.
    const weight = Math.min(1, stepS / 0.2);
    const before = this.smooth ?? sums;
    this.smooth = [before[0] + weight * (sums[0] - before[0]), before[1] + weight * (sums[1] - before[1])];
    this.goodput.add(frame.nowS, this.smooth);
    this.cwnd.add(frame.nowS, [...frame.cwnd]);
    this.queued.add(frame.nowS, [frame.up.packets, frame.down.packets]);
  }

  /** The median round-trip time of the last seconds, ms; `undefined` without any. */
  medianPing(seconds: number): number | undefined {
    const [t, values] = [this.ping.t, this.ping.lines[0] as (number | null)[]];
    const end = t[t.length - 1];
    if (end === undefined) return undefined;
    const found = values.filter((value, i): value is number => value !== null && (t[i] as number) > end - seconds);
    found.sort((a, b) => a - b);
    return found[Math.floor(found.length / 2)];
  }

  /** Mean goodput of the last seconds, Mbit/s: up and down. */
  meanGoodput(seconds: number): [number, number] {
    const t = this.goodput.t;
    const from = (t[t.length - 1] ?? 0) - seconds;
    return [0, 1].map((line) => {
      const values = (this.goodput.lines[line] as (number | null)[]).filter((_, i) => (t[i] as number) > from);
      return values.reduce((sum: number, value) => sum + (value ?? 0), 0) / Math.max(values.length, 1);
    }) as [number, number];
  }
}
