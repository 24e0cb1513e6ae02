import { Passage, type QueueView } from "../engine/protocol";

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

/** The flow whose packet left last; `undefined` if none has since the frame before. */
export function servedOf({ passages }: QueueView): number | undefined {
  for (let i = passages.length - 4; i >= 0; i -= 4) {
    const kind = passages[i + 2];
    if (kind === Passage.departure || kind === Passage.marked) return passages[i + 1];
  }
  return undefined;
}

/** Draws a queue. With `own`, each flow has a queue of its own, and its packets are counted in their lane. The canvas has `width` x `height` pixels of the page. */
export function drawQueue(
  context: CanvasRenderingContext2D,
  view: QueueView,
  lanes: number[],
  names: string[],
  look: Look,
  width: number,
  own = false,
): void {
  const place = new Map(lanes.map((flow, lane) => [flow, lane]));
  const room = width - LABEL;
  const count = view.flows.length;
  const counts = new Map<number, number>();
  if (own) for (const flow of view.flows) counts.set(flow, (counts.get(flow) ?? 0) + 1);
  const longest = own ? Math.max(1, ...counts.values()) : count;
  counts.clear();
  const step = Math.min(WIDEST, room / Math.max(longest, 1));
  const served = own ? servedOf(view) : undefined;
  context.clearRect(0, 0, width, lanes.length * LANE);
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  lanes.forEach((flow, lane) => {
    const y = lane * LANE;
    context.fillStyle = look.grid;
    context.fillRect(LABEL, y + LANE - 1, room, 1);
    context.fillStyle = look.ink;
    if (flow === served) context.fillRect(LABEL - 5, y + 2, 3, LANE - 4);
    context.fillText(shortened(context, names[flow] ?? "", LABEL - 8), 0, y + LANE / 2);
  });
  for (let i = 0; i < count; i += 1) {
    const flow = view.flows[i] as number;
    const lane = place.get(flow);
    if (lane === undefined) continue;
    const at = own ? (counts.get(flow) ?? 0) : i;
    counts.set(flow, at + 1);
    // A small packet is lower than a full one.
    const high = 4 + 6 * Math.min(1, (view.sizes[i] as number) / 1514);
    context.fillStyle = look.colourOf(flow);
    context.fillRect(LABEL + at * step, lane * LANE + LANE - 1 - high, Math.max(1, step - 1), high);
  }
}

function shortened(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (context.measureText(text).width <= width) return text;
  let shown = text;
  while (shown.length > 1 && context.measureText(`${shown}…`).width > width) shown = shown.slice(0, -1);
  return `${shown}…`;
}
