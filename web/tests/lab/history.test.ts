import { describe, expect, it } from "vitest";
import type { Frame, QueueView } from "../../src/engine/protocol";
import { History, Track } from "../../src/lab/history";

const queue: QueueView = {
  flows: new Uint16Array(),
  sizes: new Uint16Array(),
  stood: new Float32Array(),
  passages: new Float64Array(),
  packets: 0,
  bytes: 0,
  departed: 0,
  dropped: 0,
  marked: 0,
  droppedByFlow: new Uint32Array(),
  sojournMs: Number.NaN,
  state: {},
  rate: 1e7,
};

const frame = (nowS: number, more: Partial<Frame> = {}): Frame => ({
  nowS,
  done: 0,
  up: queue,
  down: queue,
  cwnd: new Float64Array([10, 20]),
  goodput: new Float64Array([4, 6]),
  pings: new Float64Array(),
  waitsMs: NaN,
  voice: new Float64Array(),
  pages: new Float64Array(),
  airtime: new Float64Array(),
  air: new Float64Array(),
  samples: new Float64Array(),
  speed: 1,
  ...more,
});

describe("a track", () => {
  it("stays bounded and spans the whole run, evenly", () => {
    const track = new Track(1);
    // Ten minutes of sixty frames a second.
    for (let i = 0; i < 36_000; i += 1) track.add(i / 60, [i]);
    expect(track.t.length).toBeLessThan(1200);
    expect(track.t.length).toBeGreaterThan(500);
    expect(track.t[0]).toBeLessThan(0.1);
    expect(600 - (track.t.at(-1) as number)).toBeLessThan(2);
    const gaps = track.t.slice(1).map((t, i) => t - (track.t[i] as number));
    expect(Math.max(...gaps) / Math.min(...gaps)).toBeLessThan(2.1);
    expect(track.lines[0]).toEqual(track.t.map((t) => Math.round(t * 60)));
  });
});

describe("the history of a run", () => {
  it("has the median of the pings of the last seconds, and counts those that were lost", () => {
    const history = new History(["a", "b"], () => "up");
    expect(history.medianPing(5)).toBeUndefined();
    history.add(frame(1, { pings: new Float64Array([0.1, 900, 0.3, 901, 0.5, 902]) }), 1);
    history.add(frame(9, { pings: new Float64Array([8.1, 60, 8.3, Number.NaN, 8.5, 50, 8.7, 55]) }), 8);
    expect(history.medianPing(5)).toBe(55);
    expect(history.lost).toBe(1);
  });

  it("adds goodput up by direction", () => {
    const history = new History(["a", "b"], (name) => (name === "a" ? "up" : "down"));
    // A sample each 20 ms: 4 Mbit/s are 10,000 bytes in that time.
    const samples = Array.from({ length: 50 }, (_, i) => [i * 0.02, 1, 2, 10, i * 10_000, 20, i * 15_000]).flat();
    history.add(frame(1, { samples: new Float64Array(samples) }), 1);
    const [up, down] = history.meanGoodput(0.5);
    expect(up).toBeCloseTo(4);
    expect(down).toBeCloseTo(6);
    expect(history.queued.lines.map((line) => line.at(-1))).toEqual([1, 2]);
    expect(history.cwnd.lines.map((line) => line.at(-1))).toEqual([10, 20]);
  });

  it("has the longest sojourn of each tenth of a second, and a ping that is late as an open end", () => {
    const history = new History([], () => "up");
    const left = (at: number, ms: number): number[] => [at, 0, 1, ms];
    const up = { ...queue, passages: new Float64Array([...left(0.01, 3), ...left(0.05, 9), ...left(0.11, 4)]) };
    history.add(frame(0.2, { up, pings: new Float64Array([0.1, 50]), waitsMs: 40 }), 0.2);
    expect([history.sojourn.t, history.sojourn.lines[0]]).toEqual([[0.1], [9]]);
    expect(history.open).toBeUndefined();
    history.add(frame(0.9, { waitsMs: 700 }), 0.7);
    expect(history.open).toEqual([0.9, 700]);
  });

  it("takes shares of the airtime over many frames, each for as long as it is", () => {
    const history = new History([], () => "up", 2);
    expect(history.meanAirtime(5)).toEqual([]);
    // A long frame of the first station, then a short one of the second, again and again.
    for (let i = 0; i < 1000; i += 1) {
      history.add(frame(i * 0.01 + 0.0075, { airtime: new Float64Array([1, 0]) }), 0.0075);
      history.add(frame(i * 0.01 + 0.01, { airtime: new Float64Array([0, 1]) }), 0.0025);
    }
    const [first, second] = history.meanAirtime(5) as [number, number];
    expect(first).toBeCloseTo(0.75, 2);
    expect(first + second).toBeCloseTo(1, 9);
  });
});
