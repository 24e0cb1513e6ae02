import { Passage, type Frame } from "../../engine/protocol";
import type { Pen } from "./pen";

// Figure 7: the two queues of DualPI2. Packets of the game are diamonds; a mark is a ring around one that leaves.

const FLIGHT_S = 0.5;

interface Dot {
  stream: boolean;
  low: boolean;
  marked: boolean;
  dropped: boolean;
  at: number;
}

/** What was seen of one of the runs. `l4s`: the stream stands in the queue for L4S. */
export class Dual {
  /** How long the last packet of the game has stood, ms. */
  stoodMs = NaN;
  private dots: Dot[] = [];

  constructor(readonly l4s: boolean) {}

  see(frame: Frame, stream: number, fly: boolean): void {
    const passages = frame.down.passages;
    for (let i = 0; i + 3 < passages.length; i += 4) {
      const [flow, kind] = [passages[i + 1], passages[i + 2]];
      if (kind === Passage.arrival) continue;
      const mine = flow === stream;
      if (mine && kind !== Passage.drop) this.stoodMs = passages[i + 3] ?? NaN;
      if (!fly || this.dots.length > 300) continue;
      const [marked, dropped] = [kind === Passage.marked, kind === Passage.drop];
      this.dots.push({ stream: mine, low: mine && this.l4s, marked, dropped, at: 0 });
    }
    if (!fly) this.dots = [];
  }

  fly(dtS: number): Dot[] {
    for (const dot of this.dots) dot.at += dtS / FLIGHT_S;
    this.dots = this.dots.filter((dot) => dot.at < 1);
    return this.dots;
  }
}

export interface L4sWords {
  stream: string;
  download: string;
  low: string;
  classic: string;
  mark: string;
  stood: string;
}

export function drawL4s(pen: Pen, frame: Frame, dual: Dual, stream: number, words: L4sWords, dtS: number): void {
  const { width: w, height: h, colours: c, context } = pen;
  const tone = dual.stoodMs < 3 ? c.good : dual.stoodMs < 10 ? c.open : c.bad;
  const big = h < 215 ? 28 : 38;
  pen.text(words.stream, 12, 15, { size: 13, bold: true, colour: c.game });
  pen.text(words.stood, 12, 26 + big / 2, { size: big, bold: true, colour: tone });
  const top = 36 + big;
  const gap = 30;
  const high = (h - top - gap * 2 - 10) / 2;
  const out = Math.max(60, w * 0.16);
  const wide = w - out - 20;
  const tanks = [words.low, words.classic].map((label, i) => {
    const tank = { x: 12, y: top + gap + i * (high + gap), w: wide, h: high };
    pen.text(label, tank.x, tank.y - 12, { size: 13, bold: true, colour: c.faint, most: w - 24 });
    pen.box(tank.x, tank.y, tank.w, tank.h, c.line, c.panel);
    pen.lines([[tank.x + tank.w + 2, tank.y + tank.h / 2, w - 4, tank.y + tank.h / 2]], c.line, 14);
    return tank;
  });
  const size = Math.min(16, (high - 8) / 3);
  const rows = Math.max(1, Math.floor((high - 6) / (size + 1)));
  const counts = [0, 0];
  for (const flow of frame.down.flows) {
    const mine = flow === stream;
    const which = mine && dual.l4s ? 0 : 1;
    const tank = tanks[which];
    const nth = counts[which] ?? 0;
    counts[which] = nth + 1;
    if (tank === undefined) continue;
    const x = tank.x + tank.w - 4 - (Math.floor(nth / rows) + 0.5) * (size + 1);
    const y = tank.y + 4 + ((nth % rows) + 0.5) * (size + 1);
    if (x > tank.x + 4)
      pen.shape(mine ? "diamond" : "square", x, y, mine ? size - 1 : size - 2, mine ? c.game : c.upload);
  }
  for (const dot of dual.fly(dtS)) {
    const tank = tanks[dot.low ? 0 : 1];
    if (tank === undefined) continue;
    const x = tank.x + tank.w + dot.at * out;
    const y = tank.y + tank.h / 2;
    if (dot.dropped) {
      context.globalAlpha = 1 - dot.at;
      pen.cross(tank.x + tank.w - 12, tank.y + tank.h / 2 + dot.at * tank.h * 0.6, 20);
      context.globalAlpha = 1;
      continue;
    }
    if (dot.marked) {
      context.strokeStyle = c.ink;
      context.lineWidth = 2.5;
      context.beginPath();
      context.arc(x, y, 12, 0, 2 * Math.PI);
      context.stroke();
    }
    pen.shape(dot.stream ? "diamond" : "square", x, y, 11, dot.stream ? c.game : c.upload);
  }
  // What the shapes mean.
  let x = Math.max(170, w * 0.36);
  const key = (label: string, paint: (x: number) => void): void => {
    paint(x + 8);
    pen.text(label, x + 20, 64, { size: 12, colour: c.faint });
    x += 34 + context.measureText(label).width;
  };
  if (w > 420) {
    key(words.stream, (at) => pen.shape("diamond", at, 64, 11, c.game));
    key(words.download, (at) => pen.shape("square", at, 64, 11, c.upload));
    key(words.mark, (at) => {
      context.strokeStyle = c.ink;
      context.lineWidth = 2;
      context.beginPath();
      context.arc(at, 64, 6, 0, 2 * Math.PI);
      context.stroke();
    });
  }
}
