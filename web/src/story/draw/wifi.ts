import type { Frame } from "../../engine/protocol";
import type { Pen } from "./pen";

// Figure 6: the air as a strip of time, row after row. Stations are told apart by colour and by how high their bars are.

export const ROW_S = 0.04;
const ROWS = 4;
const HIGH = [0.62, 0.42, 1];
/** The window of the shares, s. */
const WINDOW_S = 1;

/** What was on the air lately: when it was over, whose it was, how long it took. */
export class Air {
  pieces: [number, number, number][] = [];

  see(frame: Frame): void {
    for (let i = 0; i + 2 < frame.air.length; i += 3) {
      this.pieces.push([frame.air[i] ?? 0, frame.air[i + 1] ?? 0, frame.air[i + 2] ?? 0]);
    }
    const from = frame.nowS - WINDOW_S;
    const first = this.pieces.findIndex(([end]) => end > from);
    if (first > 0) this.pieces.splice(0, first);
  }

  /** The share of the time on the air of each station. */
  shares(stations: number): number[] {
    const sums = Array.from({ length: stations }, () => 0);
    for (const [, station, took] of this.pieces) sums[station] = (sums[station] ?? 0) + took;
    const all = sums.reduce((sum, one) => sum + one, 0);
    return sums.map((sum) => (all > 0 ? sum / all : 0));
  }
}

export function drawWifi(
  pen: Pen,
  frame: Frame,
  air: Air,
  words: { stations: string[]; air: string; share: string; percent: (share: number) => string },
): void {
  const { width: w, height: h, colours: c, context } = pen;
  const colours = [c.upload, c.call, c.game];
  const bars = h < 220 ? 60 : 108;
  const top = h < 220 ? 40 : 52;
  const rowHigh = (h - top - bars - 12) / ROWS;
  const now = frame.nowS;
  const firstRow = Math.floor(now / ROW_S) - ROWS + 1;
  const [x0, wide] = [10, w - 20];
  for (let row = 0; row < ROWS; row += 1) {
    const y = top + row * rowHigh;
    context.fillStyle = c.grid;
    context.fillRect(x0, y + rowHigh - 5, wide, 1);
    // The row that is written now.
    if (row === ROWS - 1) {
      const x = x0 + (wide * (now - (firstRow + row) * ROW_S)) / ROW_S;
      pen.lines([[x, y, x, y + rowHigh - 4]], c.ink, 2);
    }
  }
  for (const [end, station, took] of air.pieces) {
    // A piece goes on in the next row where it does not end in the one that it began in.
    for (let from = end - took; from < end - 1e-9;) {
      const row = Math.floor(from / ROW_S + 1e-9);
      const to = Math.min(end, (row + 1) * ROW_S);
      const place = row - firstRow;
      if (place >= 0 && place < ROWS) {
        const high = (rowHigh - 8) * (HIGH[station % HIGH.length] ?? 1);
        const x = x0 + (wide * (from - row * ROW_S)) / ROW_S;
        context.fillStyle = colours[station % colours.length] ?? c.ink;
        context.fillRect(
          x,
          top + place * rowHigh + rowHigh - 6 - high,
          Math.max(1, (wide * (to - from)) / ROW_S - 0.7),
          high,
        );
      }
      from = to;
    }
  }
  pen.text(words.air, x0, 24, { size: 13, colour: c.faint, bold: true, most: w - 80 });
  const shares = air.shares(words.stations.length);
  pen.text(words.share, x0, h - bars + 2, { size: 12, colour: c.faint, bold: true });
  const line = (bars - 14) / shares.length;
  const label = Math.min(150, w * 0.32);
  shares.forEach((share, i) => {
    const y = h - bars + 14 + line * (i + 0.45);
    pen.text(words.stations[i] ?? "", x0, y, { size: 13, bold: true, most: label - 6 });
    context.fillStyle = colours[i % colours.length] ?? c.ink;
    const high = Math.min(22, line - 6) * (HIGH[i % HIGH.length] ?? 1);
    context.fillRect(x0 + label, y - high / 2, (wide - label - 54) * share, high);
    pen.text(words.percent(share), x0 + label + (wide - label - 54) * share + 6, y, { size: 13, bold: true });
  });
}
