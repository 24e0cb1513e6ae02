import type { Frame } from "../../engine/protocol";
import type { Pen } from "./pen";

// Figure 3: the queue with its room, and below it latency against goodput. Each setting leaves a dot.

export interface Dot {
  packets: number;
  mbit: number;
  ms: number;
}

const MOST_PACKETS = 2000;
const [LEAST_MBIT, MOST_MBIT] = [7, 10];
const [LEAST_MS, MOST_MS] = [90, 3000];

export function drawBuffer(
  pen: Pen,
  frame: Frame,
  room: number,
  visited: Dot[],
  all: Dot[],
  words: { x: string; y: string; best: string; queue: string; now: string },
): void {
  const { width: w, height: h, colours: c, context } = pen;
  const small = h < 220;
  const strip = small ? 22 : 44;
  const [x0, wide] = [12, w - 24];
  pen.text(words.queue, x0, small ? 14 : 20, { size: 13, bold: true, colour: c.faint, most: wide - 60 });
  const top = small ? 32 : 50;
  const scale = wide / MOST_PACKETS;
  const right = x0 + wide;
  const roomWide = Math.max(4, room * scale);
  pen.box(right - roomWide, top, roomWide, strip, c.ink, c.panel, 4);
  context.fillStyle = c.upload;
  const filled = Math.min(roomWide, Math.max(1, frame.up.packets * scale));
  context.fillRect(right - filled, top + 3, filled, strip - 6);
  pen.text(words.now, x0 + 8, top + strip / 2, { size: 13, most: Math.max(60, wide - roomWide - 16) });

  const plot = { x: 62, y: top + strip + 26, w: w - 84, h: h - top - strip - (small ? 44 : 74) };
  const at = (dot: Dot): [number, number] => [
    plot.x + (plot.w * (Math.min(MOST_MBIT, Math.max(LEAST_MBIT, dot.mbit)) - LEAST_MBIT)) / (MOST_MBIT - LEAST_MBIT),
    plot.y + plot.h - (plot.h * Math.log(dot.ms / LEAST_MS)) / Math.log(MOST_MS / LEAST_MS),
  ];
  for (const ms of small ? [100, 1000] : [100, 200, 500, 1000, 2000]) {
    const [, y] = at({ packets: 0, mbit: LEAST_MBIT, ms });
    pen.lines([[plot.x, y, plot.x + plot.w, y]], c.grid);
    pen.text(String(ms), plot.x - 8, y, { size: 11, align: "right", colour: c.faint });
  }
  for (const mbit of [7, 8, 9, 10]) {
    const [x] = at({ packets: 0, mbit, ms: 100 });
    pen.lines([[x, plot.y, x, plot.y + plot.h]], c.grid);
    pen.text(String(mbit), x, plot.y + plot.h + 12, { size: 11, align: "center", colour: c.faint });
  }
  pen.text(words.y, plot.x + 4, plot.y - 10, { size: 12, colour: c.faint, bold: true });
  if (!small)
    pen.text(words.x, plot.x + plot.w, plot.y + plot.h + 30, { size: 12, colour: c.faint, bold: true, align: "right" });
  pen.text(`${words.best} ↘`, plot.x + plot.w - 4, plot.y + plot.h - 10, {
    size: 13,
    colour: c.good,
    bold: true,
    align: "right",
  });
  pen.curve(all.map(at), c.line, 2);
  for (const dot of all) pen.shape("circle", ...at(dot), 6, c.line);
  const ends = all.filter((_, i) => i === 0 || i === all.length - 1);
  [...ends, ...visited].forEach((dot, i, dots) => {
    const [x, y] = at(dot);
    const last = i === dots.length - 1 && dot.packets === room;
    pen.shape("circle", x, y, last ? 16 : 9, last ? c.upload : c.faint);
    pen.text(String(dot.packets), x - 12, y - (last ? 12 : 0), { size: last ? 14 : 11, align: "right", bold: last });
  });
}
