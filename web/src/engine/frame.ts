// Makes frames of what the simulator shows.

import type { Live, Queue } from "./pkg/sojourn";
import type { Frame, QueueView } from "./protocol";

function viewOf(queue: Queue): QueueView {
  const values = queue.values();
  const keys = queue.keys();
  const names = keys === "" ? [] : keys.split(",");
  const view: QueueView = {
    flows: queue.flows(),
    sizes: queue.sizes(),
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

/** Remembers the frame before, for what is said since then. */
export class Frames {
  private delivered: Float64Array | null = null;
  private nowS = 0;

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
      pages: look.pages(),
      airtime: look.airtime(),
      speed: realS > 0 ? stepS / realS : 0,
    };
    look.free();
    this.delivered = delivered;
    this.nowS = nowS;
    return frame;
  }
}

/** The buffers of a frame, which are handed over instead of copied. */
export function buffersOf(frame: Frame): ArrayBuffer[] {
  const arrays = [
    ...[frame.up, frame.down].flatMap((queue) => [queue.flows, queue.sizes, queue.droppedByFlow]),
    ...[frame.cwnd, frame.goodput, frame.pings, frame.pages, frame.airtime],
  ];
  return arrays.map((array) => array.buffer as ArrayBuffer);
}
