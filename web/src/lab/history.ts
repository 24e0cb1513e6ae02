import { Passage, SAMPLE_S, type Frame } from "../engine/protocol";

// What the charts show of a run so far. It is bounded: when it is full, every second point goes, so that a long run stays
// smooth.

const MOST = 1200;
/** The time over which sojourn times are taken together, s. */
const SOJOURN_S = 0.1;
/** Goodput is taken over so many samples: a fifth of a second. */
const SMOOTH = 10;
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
  /** The ping under way that has taken longer than the last that was answered: time and age, s and ms. */
  open: [number, number] | undefined;
  /** The longest time that a packet had stood of those that left within a tenth of a second, up and down, ms. */
  readonly sojourn = new Track(2);
  /** Goodput of all flows up and down, Mbit/s, over a fifth of a second. */
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
  private lastRtt = 0;
  private readonly isUp: boolean[];
  /** Delivered bytes up and down at the last samples. */
  private delivered: [number, number][] = [];
  private stood: { place: number; most: [number | null, number | null] } = { place: 0, most: [null, null] };
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
      else this.lastRtt = rtt;
      this.ping.add(frame.pings[i] as number, [Number.isNaN(rtt) ? null : rtt]);
    }
    for (let i = 0; i + 1 < frame.pages.length; i += 2) {
      this.pages.add(frame.pages[i] as number, [frame.pages[i + 1] as number]);
    }
    this.open = frame.waitsMs > this.lastRtt ? [frame.nowS, frame.waitsMs] : undefined;
    this.addSojourn(frame);
    this.addSamples(frame);
    if (stepS > 0) this.addAirtime(frame, stepS);
  }

  /** Samples are at fixed times, so the charts of a run are the same at each speed. */
  private addSamples({ samples }: Frame): void {
    const flows = this.isUp.length;
    const width = 3 + 2 * flows;
    for (let i = 0; i + width <= samples.length; i += width) {
      const at = samples[i] as number;
      this.queued.add(at, [samples[i + 1] as number, samples[i + 2] as number]);
      const sums: [number, number] = [0, 0];
      const windows = this.isUp.map((up, flow) => {
        sums[up ? 0 : 1] += samples[i + 4 + 2 * flow] as number;
        return samples[i + 3 + 2 * flow] as number;
      });
      this.cwnd.add(at, windows);
      this.delivered.push(sums);
      if (this.delivered.length > SMOOTH + 1) this.delivered.shift();
      const [first = sums] = this.delivered;
      const seconds = (this.delivered.length - 1) * SAMPLE_S;
      const rate = (way: 0 | 1): number => (seconds > 0 ? ((sums[way] - first[way]) * 8) / 1e6 / seconds : 0);
      this.goodput.add(at, [rate(0), rate(1)]);
    }
  }

  private addSojourn(frame: Frame): void {
    const merged: [number, number, number][] = [];
    for (const [way, { passages }] of [frame.up, frame.down].entries()) {
      for (let i = 0; i + 3 < passages.length; i += 4) {
        const kind = passages[i + 2];
        if (kind === Passage.departure || kind === Passage.marked) {
          merged.push([passages[i] as number, way, passages[i + 3] as number]);
        }
      }
    }
    merged.sort(([one], [other]) => one - other);
    for (const [at, way, ms] of merged) {
      const place = Math.floor(at / SOJOURN_S);
      if (place > this.stood.place) {
        this.sojourn.add((this.stood.place + 1) * SOJOURN_S, this.stood.most);
        this.stood = { place, most: [null, null] };
      }
      const { most } = this.stood;
      most[way as 0 | 1] = Math.max(most[way as 0 | 1] ?? 0, ms);
    }
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
