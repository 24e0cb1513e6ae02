import type { Frame } from "../engine/protocol";

// What the charts show of a run so far. It is bounded: when it is full, every second point goes, so that a long run stays
// smooth.

const MOST = 1200;
/** The time over which a share of the airtime is taken, s. */
const AIRTIME_S = 0.2;

/** Points of some lines with common times. */
export class Track {
  t: number[] = [];
  /** The largest value so far, those included that have gone. */
  most = 0;
  readonly lines: (number | null)[][];
  private stride = 1;
  private skipped = 0;

  constructor(lines: number) {
    this.lines = Array.from({ length: lines }, () => []);
  }

  add(t: number, values: (number | null)[]): void {
    for (const value of values) this.most = Math.max(this.most, value ?? 0);
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

  /** The mean of each line over the last seconds; empty without any point. */
  mean(seconds: number): number[] {
    const from = (this.t[this.t.length - 1] ?? 0) - seconds;
    const first = this.t.findIndex((t) => t > from);
    if (first < 0) return [];
    return this.lines.map((line) => {
      const values = line.slice(first).filter((value): value is number => value !== null);
      return values.reduce((sum, value) => sum + value, 0) / Math.max(values.length, 1);
    });
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
  /** Shares of the airtime by station. */
  readonly airtime: Track;
  lost = 0;
  private readonly isUp: boolean[];
  private smooth: [number, number] | null = null;
  private air: { seconds: number; sums: number[] };

  constructor(flows: string[], directionOf: (flow: string) => "up" | "down", stations = 0) {
    this.airtime = new Track(stations);
    this.air = { seconds: 0, sums: Array.from({ length: stations }, () => 0) };
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
    if (stepS > 0) this.addAirtime(frame, stepS);
  }

  /** The air carries one frame after the other, so a share says something only over many of them. */
  private addAirtime(frame: Frame, stepS: number): void {
    const { air } = this;
    frame.airtime.forEach((share, i) => (air.sums[i] = (air.sums[i] ?? 0) + share * stepS));
    air.seconds += stepS;
    if (air.seconds < AIRTIME_S) return;
    this.airtime.add(
      frame.nowS,
      air.sums.map((sum) => sum / air.seconds),
    );
    this.air = { seconds: 0, sums: air.sums.map(() => 0) };
  }

  /** Mean shares of the airtime of the last seconds, by station; empty at the beginning and without a cell. */
  meanAirtime(seconds: number): number[] {
    return this.airtime.mean(seconds);
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
    const [up = 0, down = 0] = this.goodput.mean(seconds);
    return [up, down];
  }
}
