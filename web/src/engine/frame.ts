// Makes frames of what the simulator shows.

import type { Live, Queue } from "./pkg/sojourn";
import { SAMPLE_S, type Frame, type QueueView } from "./protocol";

function viewOf(queue: Queue): QueueView {
  const values = queue.values();
  const keys = queue.keys();
  const names = keys === "" ? [] : keys.split(",");
  const view: QueueView = {
    flows: queue.flows(),
    sizes: queue.sizes(),
    stood: queue.stood(),
    passages: queue.passages(),
    packets: queue.packets(),
    bytes: queue.bytes(),
    departed: queue.departed(),
    dropped: queue.dropped(),
    marked: queue.marked(),
    droppedByFlow: queue.droppedByFlow(),
    sojournMs: queue.sojournMs(),
    state: Object.fromEntries(names.map((name, i) => [name, values[i] ?? 0])),
    rate: queue.rate(),
  };
  queue.free();
  return view;
}

/** Frames on the air last up to some milliseconds. */
const AIR_STEP_S = 0.0005;

/** Remembers the frame before, for what is said since then. */
export class Frames {
  private delivered: Float64Array | null = null;
  private nowS = 0;
  private airtimes: Float64Array | null = null;
  private air: number[] = [];
  private atS = 0;
  private samples: number[] = [];

  /** Goes on by so much simulated time, with a sample at each multiple of `SAMPLE_S`. In a cell it does so in short steps, each
   * of which has at most a few frames on the air. */
  advance(live: Live, seconds: number): void {
    this.airtimes ??= live.airtimes();
    const longest = this.airtimes.length > 0 ? AIR_STEP_S : SAMPLE_S;
    const end = this.atS + seconds;
    // A billionth of a second is the engine's grain.
    while (end - this.atS > 5e-10) {
      const sample = (Math.floor(this.atS / SAMPLE_S + 1e-6) + 1) * SAMPLE_S;
      const next = Math.min(end, sample, this.atS + longest);
      live.advance(next - this.atS);
      this.atS = next;
      if (longest === AIR_STEP_S) this.seeAir(live);
      if (next === sample) this.samples.push(next, ...live.sample());
    }
  }

  private seeAir(live: Live): void {
    const now = live.airtimes();
    now.forEach((total, station) => {
      const took = total - (this.airtimes?.[station] ?? 0);
      if (took > 0) this.air.push(this.atS, station, took);
    });
    this.airtimes = now;
  }

  /** The state now. `realS` is how long the advance took, in real time. */
  next(live: Live, realS: number): Frame {
    const look = live.look();
    const nowS = look.nowS();
    const delivered = look.delivered();
    const before = this.delivered ?? new Float64Array(delivered.length);
    const stepS = nowS - this.nowS;
    const goodput = delivered.map((bytes, i) => (stepS > 0 ? ((bytes - (before[i] ?? 0)) * 8) / 1e6 / stepS : 0));
    const frame: Frame = {
      nowS,
      done: look.done(),
      up: viewOf(look.up()),
      down: viewOf(look.down()),
      cwnd: look.cwnd(),
      goodput,
      pings: look.pings(),
      waitsMs: look.waitsMs(),
      voice: look.voice(),
      pages: look.pages(),
      airtime: look.airtime(),
      air: Float64Array.from(this.air),
      samples: Float64Array.from(this.samples),
      speed: realS > 0 ? stepS / realS : 0,
    };
    look.free();
    this.delivered = delivered;
    this.nowS = this.atS = nowS;
    this.air = [];
    this.samples = [];
    return frame;
  }
}

/** The buffers of a frame, which are handed over instead of copied. */
export function buffersOf(frame: Frame): ArrayBuffer[] {
  const arrays = [
    ...[frame.up, frame.down].flatMap((queue) => [
      queue.flows,
      queue.sizes,
      queue.stood,
      queue.passages,
      queue.droppedByFlow,
    ]),
    ...[frame.cwnd, frame.goodput, frame.pings, frame.voice, frame.pages, frame.airtime, frame.air, frame.samples],
  ];
  return arrays.map((array) => array.buffer as ArrayBuffer);
}
