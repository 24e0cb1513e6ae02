import { expect, it } from "vitest";
import type { QueueView } from "../../src/engine/protocol";
import { drawQueue, LANE, lanesOf } from "../../src/lab/queue";

const viewOf = (flows: number[]): QueueView => ({
  flows: Uint16Array.from(flows),
  sizes: Uint16Array.from(flows, () => 1514),
  stood: new Float32Array(),
  passages: new Float64Array(),
  packets: flows.length,
  bytes: 0,
  departed: 0,
  dropped: 0,
  marked: 0,
  droppedByFlow: new Uint32Array(),
  sojournMs: 0,
  state: {},
  rate: 1e7,
});

/** Remembers the rectangles and texts that are drawn. */
function recorder(): { context: CanvasRenderingContext2D; rects: [string, ...number[]][]; texts: string[] } {
  const rects: [string, ...number[]][] = [];
  const texts: string[] = [];
  const context = {
    fillStyle: "",
    font: "",
    textBaseline: "",
    clearRect: (): void => undefined,
    measureText: (text: string) => ({ width: 6 * text.length }),
    fillText: (text: string): number => texts.push(text),
    fillRect(...at: number[]): void {
      rects.push([this.fillStyle, ...at]);
    },
  };
  return { context: context as unknown as CanvasRenderingContext2D, rects, texts };
}

const look = { ink: "ink", grid: "grid", colourOf: (flow: number) => `flow ${flow}` };

it("lanes are those that are wanted and those that have a packet", () => {
  expect(lanesOf(viewOf([5, 2, 5]), [0, 2])).toEqual([0, 2, 5]);
});

it("each packet stands in the lane of its flow, at its place, within the picture", () => {
  const { context, rects, texts } = recorder();
  const names = ["tcp_up_1", "a name that is much too long for a lane", "ping"];
  const flows = [0, 0, 2, 0, 1];
  drawQueue(context, viewOf(flows), [0, 1, 2], names, look, 400);
  const packets = rects.filter(([colour]) => colour.startsWith("flow"));
  expect(packets.map(([colour]) => colour)).toEqual(flows.map((flow) => `flow ${flow}`));
  expect(packets.map(([, , y]) => Math.floor((y as number) / LANE))).toEqual(flows);
  const xs = packets.map(([, x]) => x as number);
  expect(xs).toEqual([...xs].sort((a, b) => a - b));
  // A flow is told by its label as well as by its colour.
  expect(texts[0]).toBe("tcp_up_1");
  expect(texts[1]).toMatch(/^a name.*…$/);
});

it("a queue of thousands fits the width", () => {
  const { context, rects } = recorder();
  drawQueue(context, viewOf(Array.from({ length: 5000 }, (_, i) => i % 2)), [0, 1], ["a", "b"], look, 400);
  const right = rects
    .filter(([colour]) => colour.startsWith("flow"))
    .map(([, x, , w]) => (x as number) + (w as number));
  expect(right).toHaveLength(5000);
  expect(Math.max(...right)).toBeLessThanOrEqual(401);
});
