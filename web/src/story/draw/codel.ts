import { Passage, type Frame } from "../../engine/protocol";
import type { Pen } from "./pen";

// Figure 4: each packet is a bar as high as the time that it has stood, the next to leave at the right; the target is a
// line. A clock says for how long no packet has left below the target, or when the next drop comes.

const INTERVAL_MS = 100;
/** A drop is shown for so long, s of real time. */
const FLASH_S = 0.7;

/** What was seen of CoDel. */
export class Course {
  /** When a packet left last that had stood less than the target, s. */
  belowS = 0;
  drops = 0;
  /** How long ago the last drop was, s of real time. */
  flashS = Infinity;

  see(frame: Frame, targetMs: number): void {
    const passages = frame.up.passages;
    for (let i = 0; i + 3 < passages.length; i += 4) {
      const [at, kind, stood] = [passages[i] ?? 0, passages[i + 2], passages[i + 3] ?? 0];
      if (kind === Passage.drop) {
        this.drops += 1;
        this.flashS = 0;
      } else if (kind !== Passage.arrival && stood < targetMs) this.belowS = at;
    }
    if (frame.up.packets === 0) this.belowS = frame.nowS;
  }
}

export interface CodelWords {
  stood: string;
  target: string;
  clock: string;
  next: string;
  calm: string;
  ms: (value: number) => string;
}

export function drawCodel(
  pen: Pen,
  frame: Frame,
  course: Course,
  targetMs: number,
  words: CodelWords,
  dtS: number,
): void {
  const { width: w, height: h, colours: c, context } = pen;
  course.flashS += dtS;
  const { stood } = frame.up;
  const most = Math.max(targetMs * 2.6, 5, ...(stood.length > 0 ? [stood[0] ?? 0] : [])) * 1.08;
  const plot = { x: 14, y: 74, w: w - 28, h: h - 94 };
  const heightOf = (ms: number): number => (plot.h * ms) / most;
  const base = plot.y + plot.h;

  const dropping = (frame.up.state["dropping"] ?? 0) > 0;
  const aboveMs = Math.min(INTERVAL_MS, (frame.nowS - course.belowS) * 1000);
  const nextMs = Math.max(0, (frame.up.state["drop_next"] ?? 0) / 1000);
  const share = dropping ? 1 - Math.min(1, nextMs / INTERVAL_MS) : aboveMs / INTERVAL_MS;
  const calm = !dropping && aboveMs < targetMs / 2 + 3;
  const tone = dropping ? c.bad : calm ? c.good : c.open;
  const [cx, cy, radius] = [34, 36, 22];
  context.lineWidth = 6;
  context.strokeStyle = c.grid;
  context.beginPath();
  context.arc(cx, cy, radius, 0, 2 * Math.PI);
  context.stroke();
  context.strokeStyle = tone;
  context.beginPath();
  context.arc(cx, cy, radius, -Math.PI / 2, -Math.PI / 2 + 2 * Math.PI * share);
  context.stroke();
  const said = dropping
    ? `${words.next} ${words.ms(Math.round(nextMs))}`
    : `${words.clock} ${words.ms(Math.round(aboveMs))}`;
  pen.text(calm ? words.calm : said, cx + radius + 14, cy, { size: 17, bold: true, colour: tone, most: w - 130 });

  const count = stood.length;
  const wide = Math.min(40, plot.w / Math.max(count, 1));
  for (let i = 0; i < count; i += 1) {
    const ms = stood[i] ?? 0;
    const x = plot.x + plot.w - (i + 1) * wide;
    context.fillStyle = ms < targetMs ? c.good : c.bad;
    context.globalAlpha = ms < targetMs ? 0.75 : 0.85;
    const high = Math.max(2, heightOf(ms));
    context.fillRect(x + 1, base - high, Math.max(1, wide - 2), high);
  }
  context.globalAlpha = 1;
  pen.lines([[plot.x, base, plot.x + plot.w, base]], c.line, 2);
  const y = base - heightOf(targetMs);
  pen.lines([[plot.x, y, plot.x + plot.w, y]], c.ink, 2, [8, 5]);
  pen.text(words.target, plot.x + 4, y - 11, { size: 14, bold: true });
  pen.text(words.stood, plot.x, base + 12, { size: 12, colour: c.faint, bold: true });
  pen.text("→", plot.x + plot.w - 4, base + 12, { size: 16, align: "right", colour: c.faint, bold: true });
  if (course.flashS < FLASH_S) {
    const at = course.flashS / FLASH_S;
    context.globalAlpha = 1 - at;
    pen.cross(plot.x + plot.w - 14, plot.y + 10 + at * (plot.h - 20), 26);
    context.globalAlpha = 1;
  }
}
