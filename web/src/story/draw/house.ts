import type { Frame, QueueView } from "../../engine/protocol";
import type { Pen } from "./pen";

// Figure 2: two routers beside each other. Each has its queue up and its queue down, in time, a ping, and a grade.

export interface Panel {
  title: string;
  frame: Frame | undefined;
  ping: string;
  /** Empty until the record is there. */
  grade: string;
  quality: string;
}

/** A queue of this length fills its bar, ms. */
const FULL_MS = 1000;

const lengthMs = (queue: QueueView): number => (queue.bytes * 8000) / queue.rate;

export function drawHouse(
  pen: Pen,
  panels: Panel[],
  words: { up: string; down: string; ping: string; grade: string; quality: string; bar: string },
): void {
  const { width: w, height: h, colours: c } = pen;
  const stacked = w < 420 && h > 300;
  const [wide, high] = stacked ? [w - 12, (h - 52) / 2] : [(w - 18) / 2, h - 52];
  pen.text(words.bar, 10, 24, { size: 13, colour: c.faint, most: w - 70 });
  panels.forEach((panel, i) => {
    const [x, y] = stacked ? [6, 46 + i * (high + 4)] : [6 + i * (wide + 6), 46];
    pen.box(x, y, wide, high, c.line, c.panel);
    pen.text(panel.title, x + 12, y + 18, { size: 15, bold: true, most: wide - (wide < 200 ? 64 : 90) });
    const tone = "AB".includes(panel.grade.slice(0, 1)) ? c.good : panel.grade === "C" ? c.open : c.bad;
    if (panel.grade !== "") {
      const side = wide < 200 ? 36 : Math.min(72, high * 0.42);
      pen.box(x + wide - side - 10, y + 8, side, side, tone, tone, 10);
      const letter = { size: side * 0.55, colour: c.panel, align: "center" as const, bold: true };
      pen.text(panel.grade, x + wide - side / 2 - 10, y + 10 + side / 2, letter);
    }
    const rows = (high - 44) / 4;
    const line = (n: number): number => y + 40 + rows * (n + 0.4);
    pen.text(`${words.ping}: ${panel.ping}`, x + 12, line(0), { size: 15, most: wide - (wide < 200 ? 24 : 100) });
    pen.text(`${words.quality}: ${panel.quality}`, x + 12, line(1), { size: 14, most: wide - (wide < 200 ? 24 : 100) });
    (["up", "down"] as const).forEach((way, n) => {
      const at = line(2 + n);
      const label = wide < 200 ? 64 : 100;
      const [from, room] = [x + label, wide - label - 12];
      pen.text(words[way], x + 12, at, { size: 13, colour: c.faint, most: label - 16 });
      const full = Math.min(1, panel.frame === undefined ? 0 : lengthMs(panel.frame[way]) / FULL_MS);
      const thick = Math.min(20, rows * 0.6);
      pen.box(from, at - thick / 2, room, thick, c.line, c.panel, 4);
      pen.context.fillStyle = full > 0.2 ? c.bad : full > 0.06 ? c.open : c.good;
      pen.context.fillRect(from + 2, at - thick / 2 + 2, Math.max(2, (room - 4) * full), thick - 4);
    });
  });
}
