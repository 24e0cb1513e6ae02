// A chart as a file: SVG with the lines that are looked at, and CSV with all of their values.
import { csvOf } from "../files";
import type { Chart } from "./lines";
import { logTicks, shown, ticks } from "./numbers";

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM, LINE] = [860, 420, 70, 20, 20, 50, 18];
const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/** The values of a chart, a row for each. */
export function chartCsv(chart: Chart): string {
  const rows = chart.lines.flatMap(({ label, x, y }) => x.map((at, place) => [label, at, y[place] ?? ""]));
  return csvOf([["line", chart.xLabel, chart.yLabel], ...rows]);
}

/** A chart on white, with a legend below; of x it has the part that is looked at. */
export function chartSvg(chart: Chart): string {
  const xs = chart.lines.flatMap((line) => line.x);
  const [fromX, toX] = chart.zoom ?? ends(xs);
  const points = chart.lines.map(({ x, y }) => x.map((at, place): [number, number | null] => [at, y[place] ?? null]));
  const seen = points.flatMap((line) => line.filter(([at]) => at >= fromX && at <= toX).flatMap(([, y]) => y ?? []));
  const [least, most] = ends(seen);
  const from = chart.yFrom ?? least;
  const [fromY, toY] = chart.logY === true ? [least / 1.15, most * 1.15] : [from, most + 0.06 * (most - from)];
  const scale = (low: number, high: number, log: boolean, from: number, to: number) => {
    const of = log ? Math.log : (value: number): number => value;
    return (value: number): number => from + ((of(value) - of(low)) / (of(high) - of(low) || 1)) * (to - from);
  };
  const x = scale(fromX, toX, chart.logX === true, LEFT, WIDTH - RIGHT);
  const y = scale(fromY, toY, chart.logY === true, HEIGHT - BOTTOM, TOP);
  const parts = [`<title>${escaped(chart.title)}</title>`, '<rect width="100%" height="100%" fill="#fff"/>'];
  for (const tick of (chart.logX === true ? logTicks : ticks)(fromX, toX)) {
    parts.push(line(x(tick), x(tick), TOP, HEIGHT - BOTTOM));
    parts.push(text(x(tick), HEIGHT - BOTTOM + 18, shown(tick), "middle"));
  }
  for (const tick of (chart.logY === true ? logTicks : ticks)(fromY, toY)) {
    parts.push(line(LEFT, WIDTH - RIGHT, y(tick), y(tick)), text(LEFT - 8, y(tick) + 4, shown(tick), "end"));
  }
  parts.push(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, chart.xLabel, "middle"));
  parts.push(
    `<g transform="translate(16 ${(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)">${text(0, 0, chart.yLabel, "middle")}</g>`,
  );
  parts.push(`<clipPath id="c"><path d="M${LEFT} 0H${WIDTH - RIGHT}V${HEIGHT - BOTTOM}H${LEFT}Z"/></clipPath>`);
  chart.lines.forEach(({ label, colour, dash }, number) => {
    const style = `stroke="${escaped(colour)}" stroke-width="1.6" stroke-dasharray="${(dash ?? []).join(" ")}"`;
    let [path, before] = ["", null as number | null];
    for (const [at, value] of points[number] ?? []) {
      const to = value === null ? "" : `${x(at).toFixed(1)} ${y(value).toFixed(1)}`;
      if (value !== null) path += before === null ? `M${to}` : `${chart.stepped ? `H${x(at).toFixed(1)}` : ""}L${to}`;
      before = value;
    }
    parts.push(`<path fill="none" clip-path="url(#c)" ${style} d="${path}"/>`);
    const row = HEIGHT + LINE * number;
    parts.push(`<path ${style} d="M${LEFT} ${row}h26"/>`, text(LEFT + 34, row + 4, label, "start"));
  });
  const height = HEIGHT + LINE * chart.lines.length;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="13">${parts.join("")}</svg>\n`;
}

function ends(values: number[]): [number, number] {
  const [low, high] = values.reduce(([a, b], value) => [Math.min(a, value), Math.max(b, value)], [Infinity, -Infinity]);
  return low <= high ? [low, high] : [0, 1];
}

const line = (x1: number, x2: number, y1: number, y2: number): string =>
  `<path stroke="#e3e6ea" d="M${x1.toFixed(1)} ${y1.toFixed(1)}L${x2.toFixed(1)} ${y2.toFixed(1)}"/>`;
const text = (x: number, y: number, words: string, anchor: string): string =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}" fill="#1b1f24">${escaped(words)}</text>`;
