import { Passage, type Frame } from "../../engine/protocol";
import type { Pen, Shape } from "./pen";

// Figure 1: three senders, the queue of the router as a tank, the line, and the ping. Each packet that flies is one that
// came, left or was dropped in the run.

export type Kind = "call" | "game" | "upload";
export const SHAPES: Record<Kind, Shape> = { call: "circle", game: "diamond", upload: "square" };

/** Packets that an ordinary router has room for: the tank. */
const ROOM = 1000;
const FLIGHT_S = 0.28;
/** The window of the chart, s. */
export const WINDOW_S = 20;
const MOST_DOTS = 700;

interface Dot {
  kind: Kind;
  way: "in" | "out" | "drop";
  /** 0 at the beginning, 1 at the end; less than 0 before. */
  at: number;
}

/** One router: what was seen of it. */
export class World {
  /** Time and round-trip time of pings, s and ms. */
  pings: [number, number][] = [];
  /** The ping now, ms: that of the last answer, or the age of the one under way if that is more. */
  pingMs = NaN;
  private dots: Dot[] = [];

  constructor(private readonly kinds: Kind[]) {}

  see(frame: Frame, fly: boolean): void {
    let last = this.pings.at(-1)?.[1] ?? NaN;
    for (let i = 0; i + 1 < frame.pings.length; i += 2) {
      const rtt = frame.pings[i + 1] as number;
      if (Number.isNaN(rtt)) continue;
      this.pings.push([(frame.pings[i] as number) + rtt / 1000, rtt]);
      last = rtt;
    }
    const from = frame.nowS - WINDOW_S - 2;
    while (this.pings.length > 0 && (this.pings[0]?.[0] ?? 0) < from) this.pings.shift();
    this.pingMs = Math.max(last, Number.isNaN(frame.waitsMs) ? 0 : frame.waitsMs);
    const passages = frame.up.passages;
    for (let i = 0; i + 3 < passages.length && fly; i += 4) {
      const kind = this.kinds[passages[i + 1] as number] ?? "upload";
      const event = passages[i + 2];
      const way = event === Passage.arrival ? "in" : event === Passage.drop ? "drop" : "out";
      if (this.dots.length < MOST_DOTS)
        this.dots.push({ kind, way, at: -Math.max(0, frame.nowS - (passages[i] ?? 0)) });
    }
    if (!fly) this.dots = [];
  }

  fly(seconds: number): Dot[] {
    for (const dot of this.dots) dot.at += seconds / FLIGHT_S;
    this.dots = this.dots.filter((dot) => dot.at < 1);
    return this.dots;
  }
}

export interface CallTexts {
  senders: Record<Kind, string>;
  queue: string;
  line: string;
  ping: string;
  idle: string;
  shown: string;
  verdict: string;
  routers: [string, string];
  ms: (value: number) => string;
}

export type Verdict = "good" | "fair" | "bad";

export function verdictOf(pingMs: number): Verdict {
  return pingMs < 80 ? "good" : pingMs < 200 ? "fair" : "bad";
}

/** Draws the world that is shown, and the pings of both. */
export function drawCall(
  pen: Pen,
  frame: Frame,
  worlds: World[],
  shownWorld: number,
  kinds: Kind[],
  texts: CallTexts,
  dtS: number,
): void {
  const { width: w, height: h, colours: c, context } = pen;
  const world = worlds[shownWorld] as World;
  const small = h < 215;
  const [chart, top] = [h > 250 ? Math.min(110, h * 0.25) : 0, small ? 54 : 74];
  const left = Math.max(small ? 86 : 66, Math.min(150, w * 0.17));
  const tank = { x: left + 26, y: top + 16, w: w - left - 26 - Math.max(40, w * 0.11), h: h - top - chart - 40 };
  const verdict = verdictOf(world.pingMs);
  const tone = { good: c.good, fair: c.open, bad: c.bad }[verdict];

  // The ping, big.
  const big = small ? 28 : Math.min(46, 28 + w / 60);
  const level = (small ? 18 : 24) + big / 2;
  pen.text(texts.ping, 10, 12, { size: 13, colour: c.faint, bold: true });
  pen.text(texts.shown, 10, level, { size: big, colour: tone, bold: true });
  context.font = `700 ${big}px system-ui, sans-serif`;
  const after = 22 + context.measureText(texts.shown).width;
  pen.text(texts.verdict, after, level - 8, { size: 15, colour: tone, bold: true, most: w - after - 50 });
  pen.text(texts.idle, after, level + 9, { size: 12, colour: c.faint, most: w - after - 8 });

  // Where the packets come from, and where they go.
  const kindsAll: Kind[] = ["call", "game", "upload"];
  const yOf = (kind: Kind): number => tank.y + tank.h * ((kindsAll.indexOf(kind) + 0.42) / 3);
  for (const kind of kindsAll) {
    const y = yOf(kind);
    if (small) {
      pen.shape(SHAPES[kind], 11, y - 6, 13, c[kind]);
      pen.text(texts.senders[kind], 21, y - 6, { size: 11, most: left - 20, bold: true });
      continue;
    }
    pen.shape(SHAPES[kind], 10 + (left - 10) / 2, y - 8, 20, c[kind]);
    pen.text(texts.senders[kind], 6 + (left - 6) / 2, y + 12, {
      size: 12,
      align: "center",
      most: left - 2,
      bold: true,
    });
  }
  const middle = tank.y + tank.h / 2;
  pen.lines([[tank.x + tank.w + 5, middle, w - 6, middle]], c.line, 14);
  pen.box(tank.x - 5, tank.y - 5, tank.w + 10, tank.h + 10, c.faint, c.panel);
  pen.text(texts.queue, tank.x + tank.w / 2, tank.y - 15, {
    size: 12,
    align: "center",
    colour: c.faint,
    bold: true,
    most: tank.w,
  });
  pen.text(texts.line, (tank.x + tank.w + w) / 2 + 3, middle + 18, {
    size: 12,
    align: "center",
    colour: c.faint,
    bold: true,
    most: w - tank.x - tank.w - 10,
  });

  // The queue. The next to leave is at the right.
  const cell = Math.sqrt((tank.w * tank.h) / ROOM);
  const rows = Math.max(1, Math.floor(tank.h / cell));
  const columns = Math.ceil(ROOM / rows);
  const [cw, ch] = [tank.w / columns, tank.h / rows];
  const place = (i: number): [number, number] => [
    tank.x + tank.w - (Math.floor(i / rows) + 0.5) * cw,
    tank.y + ((i % rows) + 0.5) * ch,
  ];
  const flows = frame.up.flows;
  const count = Math.min(flows.length, ROOM);
  context.fillStyle = c.upload;
  context.globalAlpha = 0.6;
  for (let i = 0; i < count; i += 1) {
    if ((kinds[flows[i] as number] ?? "upload") !== "upload") continue;
    const [x, y] = place(i);
    context.fillRect(x - cw / 2 + 0.5, y - ch / 2 + 0.5, Math.max(1, cw - 1), Math.max(1, ch - 1));
  }
  context.globalAlpha = 1;
  for (let i = 0; i < count; i += 1) {
    const kind = kinds[flows[i] as number] ?? "upload";
    if (kind === "upload") continue;
    const [x, y] = place(i);
    const size = Math.max(8, Math.min(14, cw * 1.3));
    pen.shape(SHAPES[kind], x, y, size + 4, c.panel);
    pen.shape(SHAPES[kind], x, y, size, c[kind]);
  }

  const [tailX, tailY] = place(Math.min(count, ROOM - 1));
  for (const dot of world.fly(dtS)) {
    if (dot.at < 0) continue;
    const at = dot.at;
    const size = dot.kind === "upload" ? 6 : 10;
    if (dot.way === "drop") {
      context.globalAlpha = 1 - at;
      pen.cross(tailX, tank.y + tank.h + 6 + at * at * 30, 11);
      context.globalAlpha = 1;
      continue;
    }
    const [fromX, fromY, toX, toY] =
      dot.way === "in"
        ? [left - 4, yOf(dot.kind) - 6, Math.min(tailX, tank.x + tank.w - 4), tailY]
        : [tank.x + tank.w, middle, w, middle];
    pen.shape(SHAPES[dot.kind], fromX + (toX - fromX) * at, fromY + (toY - fromY) * at, size, c[dot.kind]);
  }
  if (chart > 0) drawPings(pen, frame.nowS, worlds, shownWorld, h - chart + 4, chart - 6, texts);
}

function drawPings(
  pen: Pen,
  nowS: number,
  worlds: World[],
  shownWorld: number,
  y: number,
  high: number,
  texts: CallTexts,
): void {
  const { width: w, colours: c } = pen;
  const most = Math.max(
    100,
    ...worlds.flatMap((world) => world.pings.map(([, ms]) => ms)),
    ...worlds.map((one) => one.pingMs || 0),
  );
  const from = Math.max(0, nowS - WINDOW_S);
  const [x0, x1, base] = [46, w - 8, y + high - 4];
  const at = ([time, ms]: [number, number]): [number, number] => [
    x0 + ((time - from) / WINDOW_S) * (x1 - x0),
    base - (ms / most) * (high - 20),
  ];
  pen.lines([[x0, base, x1, base]], c.line);
  pen.text(texts.ms(0), x0 - 6, base - 3, { size: 10, align: "right", colour: c.faint, most: x0 - 8 });
  pen.text(texts.ms(Math.round(most / 10) * 10), x0 - 6, y + 16, {
    size: 10,
    align: "right",
    colour: c.faint,
    most: x0 - 8,
  });
  pen.lines([[x0, y + 16, x1, y + 16]], c.grid);
  worlds.forEach((world, i) => {
    const points = world.pings.filter(([time]) => time >= from && time <= nowS).map(at);
    const end = at([nowS, world.pingMs]);
    if (!Number.isNaN(end[1])) points.push(end);
    const colour = i === 0 ? c.bad : c.good;
    pen.curve(points, colour, i === shownWorld ? 3 : 1.6, i === 0 ? [] : [6, 3]);
    const y1 = points.at(-1)?.[1] ?? base;
    const shown = i === 0 ? Math.max(y + 8, y1 - 9) : Math.min(base - 9, y1 - 8);
    if (points.length > 0 && (i === 0 || most > 150)) {
      const x = Math.min(x1, Math.max(x0 + 150, end[0]));
      pen.text(texts.routers[i] as string, x, shown, { size: 11, colour, align: "right", bold: true });
    }
  });
}
