import type { QueueView } from "../engine/protocol";

// The picture of a queue: a lane for each flow, and each packet where it stands in the order of arrival, the next to leave
// at the left. In a FIFO the lanes mix; a queue for each flow is served in turn whatever stands to its left.

export const LANE = 13;
const LABEL = 92;
const WIDEST = 7;

export interface Look {
  ink: string;
  grid: string;
  colourOf: (flow: number) => string;
}

/** The flows that get a lane: those that are wanted, and those that have a packet here now. */
export function lanesOf(view: QueueView, wanted: Iterable<number>): number[] {
  return [...new Set([...wanted, ...view.flows])].sort((a, b) => a - b);
}

/** Draws a queue; the canvas has `width` x `height` pixels of the page. */
export function drawQueue(
  context: CanvasRenderingContext2D,
  view: QueueView,
  lanes: number[],
  names: string[],
  look: Look,
  width: number,
): void {
  const place = new Map(lanes.map((flow, lane) => [flow, lane]));
  const room = width - LABEL;
  const count = view.flows.length;
  const step = Math.min(WIDEST, room / Math.max(count, 1));
  context.clearRect(0, 0, width, lanes.length * LANE);
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  lanes.forEach((flow, lane) => {
    const y = lane * LANE;
    context.fillStyle = look.grid;
    context.fillRect(LABEL, y + LANE - 1, room, 1);
    context.fillStyle = look.ink;
    context.fillText(shortened(context, names[flow] ?? "", LABEL - 8), 0, y + LANE / 2);
  });
  for (let i = 0; i < count; i += 1) {
    const flow = view.flows[i] as number;
    const lane = place.get(flow);
    if (lane === undefined) continue;
    // A small packet is lower than a full one.
    const high = 4 + 6 * Math.min(1, (view.sizes[i] as number) / 1514);
    context.fillStyle = look.colourOf(flow);
    context.fillRect(LABEL + i * step, lane * LANE + LANE - 1 - high, Math.max(1, step - 1), high);
  }
}

function shortened(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (context.measureText(text).width <= width) return text;
  let shown = text;
  while (shown.length > 1 && context.measureText(`${shown}…`).width > width) shown = shown.slice(0, -1);
  return `${shown}…`;
}
