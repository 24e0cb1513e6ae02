import { Passage, type Frame } from "../../engine/protocol";
import { SHAPES, type Kind } from "./call";
import type { Pen } from "./pen";

// Figure 5: the queues stand in a ring around the clerk. The clerk turns to the queue whose packet has just left.

const MOST_SHOWN = 9;
/** How long a packet is on its way from its queue to the clerk, s of real time. */
const FLIGHT_S = 0.45;

/** Whom the clerk serves. */
export class Clerk {
  flow: number | undefined;
  private angle = -Math.PI / 2;
  private served: { flow: number; at: number }[] = [];

  see(frame: Frame): void {
    const passages = frame.up.passages;
    for (let i = 0; i + 3 < passages.length; i += 4) {
      const kind = passages[i + 2];
      if (kind === Passage.departure || kind === Passage.marked) this.serve(passages[i + 1] ?? 0);
    }
  }

  private serve(flow: number): void {
    this.flow = flow;
    this.served.push({ flow, at: 0 });
    if (this.served.length > 40) this.served.shift();
  }

  /** The packets on their way to the clerk: 0 at their queue, 1 there. */
  fly(dtS: number): { flow: number; at: number }[] {
    for (const one of this.served) one.at += dtS / FLIGHT_S;
    this.served = this.served.filter((one) => one.at < 1);
    return this.served;
  }

  /** The hand follows, the short way round. */
  turn(to: number, dtS: number): number {
    const way = Math.atan2(Math.sin(to - this.angle), Math.cos(to - this.angle));
    this.angle += way * Math.min(1, dtS * 18);
    return this.angle;
  }
}

export function drawFair(
  pen: Pen,
  frame: Frame,
  clerk: Clerk,
  kinds: Kind[],
  words: { clerk: string; call: string; game: string; upload: string; ping: string; shown: string },
  dtS: number,
): void {
  const { width: w, height: h, colours: c, context } = pen;
  const [cx, cy] = [w / 2, h / 2 + 6];
  const outer = Math.min(w * 0.46, h / 2 - 26);
  const inner = Math.max(28, outer * 0.26);
  const step = (outer - inner - 12) / MOST_SHOWN;
  // The call and the game come first, on the left and on the right.
  const uploads = kinds.flatMap((kind, flow) => (kind === "upload" ? [flow] : []));
  const half = Math.ceil(uploads.length / 2);
  const [game, call] = [kinds.indexOf("game"), kinds.indexOf("call")];
  const order = [call, ...uploads.slice(0, half), game, ...uploads.slice(half)];
  const angleOf = (flow: number): number => Math.PI + (2 * Math.PI * order.indexOf(flow)) / order.length;
  const [angles, counts] = [order.map(angleOf), new Map<number, number>()];
  const size = Math.max(5, Math.min(18, step - 2, (1.6 * Math.PI * inner) / order.length + 3));

  order.forEach((_, i) => {
    const angle = angles[i] ?? 0;
    const [x, y] = [Math.cos(angle), Math.sin(angle)];
    pen.lines([[cx + x * inner, cy + y * inner, cx + x * outer, cy + y * outer]], c.grid, size + 4);
  });
  for (const flow of frame.up.flows) {
    const nth = counts.get(flow) ?? 0;
    counts.set(flow, nth + 1);
    if (nth >= MOST_SHOWN) continue;
    const angle = angleOf(flow);
    const far = inner + 10 + nth * step;
    const kind = kinds[flow] ?? "upload";
    const mine = kind !== "upload";
    pen.shape(
      SHAPES[kind],
      cx + Math.cos(angle) * far,
      cy + Math.sin(angle) * far,
      mine ? Math.max(13, size) : size,
      c[kind],
    );
  }
  for (const flow of [call, game, uploads.at(-1) ?? 0]) {
    const angle = angleOf(flow);
    const kind = kinds[flow] ?? "upload";
    const [x, y] = [cx + Math.cos(angle) * (outer + 8), cy + Math.sin(angle) * (outer + 8)];
    const side = Math.cos(angle);
    const align: CanvasTextAlign = Math.abs(side) < 0.3 ? "center" : side > 0 ? "left" : "right";
    const room = align === "left" ? w - x - 4 : align === "right" ? x - 4 : w;
    const fits = room > 60;
    const label = words[kind];
    if (fits) pen.text(label, x, y, { size: 13, bold: true, colour: c[kind], align, most: room });
    else
      pen.text(label, Math.max(60, Math.min(w - 60, x)), y + 20, {
        size: 12,
        bold: true,
        colour: c[kind],
        align: "center",
        most: 116,
      });
  }
  for (const { flow, at } of clerk.fly(dtS)) {
    const far = (inner + 10) * (1 - at);
    const kind = kinds[flow] ?? "upload";
    const wide = kind === "upload" ? size : Math.max(15, size);
    pen.shape(SHAPES[kind], cx + Math.cos(angleOf(flow)) * far, cy + Math.sin(angleOf(flow)) * far, wide, c[kind]);
  }
  const hand = clerk.turn(clerk.flow === undefined ? -Math.PI / 2 : angleOf(clerk.flow), dtS);
  pen.lines([[cx, cy, cx + Math.cos(hand) * (inner - 2), cy + Math.sin(hand) * (inner - 2)]], c.accent, 6);
  context.fillStyle = c.accent;
  context.beginPath();
  context.arc(cx, cy, Math.max(9, inner * 0.36), 0, 2 * Math.PI);
  context.fill();
  pen.text(words.ping, 10, 12, { size: 13, colour: c.faint, bold: true });
  pen.text(words.shown, 10, h < 215 ? 32 : 40, { size: h < 215 ? 24 : 34, colour: c.good, bold: true });
  const below = h < 215 ? 52 : 68;
  pen.shape("circle", 16, below, 12, c.accent);
  pen.text(words.clerk, 27, below, { size: 12, colour: c.accent, bold: true });
}
