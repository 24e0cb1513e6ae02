// Lines over an axis: time series and distributions. The dashboard, the laboratory and the report draw them with this.
import uPlot from "uplot";
import { logTicks, shown, ticks } from "./numbers";

export interface Line {
  label: string;
  colour: string;
  dash?: number[];
  /** In ascending order. */
  x: number[];
  /** `null` is a gap. */
  y: (number | null)[];
}

export interface Chart {
  /** What is shown, for who cannot see it. */
  title: string;
  xLabel: string;
  yLabel: string;
  lines: Line[];
  /** Whether an axis is logarithmic; its values must be positive then. */
  logX?: boolean;
  logY?: boolean;
  /** Lines go in steps, as those of a distribution do. */
  stepped?: boolean;
  height?: number;
  /** Charts of one name show the same time under the pointer and zoom together. */
  group?: string;
  /** The least value of y, if not the least of the lines. */
  yFrom?: number;
  /** The part of x that is looked at first; without it the whole. */
  zoom?: [number, number] | undefined;
  /** Told of the part of x that is looked at, after a zoom, and whether it is the whole. */
  zoomed?: (low: number, high: number, whole: boolean) => void;
}

export interface Drawn {
  destroy(): void;
  /** Draws again with the colours of the page. */
  restyle(): void;
}

const styleOf = (host: Element, name: string): string => getComputedStyle(host).getPropertyValue(name).trim() || "#777";

/** Draws a chart into an element, which gives the width. */
export function drawLines(host: HTMLElement, chart: Chart): Drawn {
  const frame = element("div", "chart");
  const legend = element("div", "chart-legend");
  const area = element("div", "chart-area");
  area.tabIndex = 0;
  area.setAttribute("role", "group");
  area.setAttribute("aria-roledescription", "chart");
  area.setAttribute("aria-label", `${chart.title}. ${HELP}`);
  frame.append(
    legend,
    area,
    hint(() => plot.setScale("x", whole)),
  );
  host.append(frame);

  const tables = chart.lines.map((line) => [line.x, line.y] as uPlot.AlignedData);
  const data = tables.length === 0 ? ([[]] as unknown as uPlot.AlignedData) : uPlot.join(tables);
  const width = (): number => Math.max(200, Math.floor(host.clientWidth));
  const readouts: HTMLElement[] = [];
  const options: uPlot.Options = {
    width: width(),
    height: chart.height ?? 280,
    legend: { show: false },
    cursor: { drag: { x: true, y: false }, ...(chart.group === undefined ? {} : { sync: { key: chart.group } }) },
    scales: {
      // Without a range of ours a logarithmic axis would begin and end at powers of ten.
      x: { time: false, distr: chart.logX === true ? 3 : 1, range: (_, low, high) => [low ?? 0, high ?? 1] },
      y: {
        distr: chart.logY === true ? 3 : 1,
        range: (_, low, high) => rangeOf(chart, low, high),
      },
    },
    axes: [
      axis(host, chart.xLabel, chart.logX === true),
      { ...axis(host, chart.yLabel, chart.logY === true), size: 60 },
    ],
    series: [
      { label: chart.xLabel },
      ...chart.lines.map((line) => ({
        label: line.label,
        stroke: line.colour,
        width: 1.6,
        dash: line.dash ?? [],
        points: { show: false },
        ...(chart.stepped === true ? { paths: uPlot.paths.stepped?.({ align: 1 }) as uPlot.Series.PathBuilder } : {}),
      })),
    ],
    hooks: {
      setCursor: [
        (self): void => {
          const at = self.cursor.idx;
          readouts.forEach((readout, place) => {
            const value = at === null || at === undefined ? undefined : nearest(self.data[place + 1] as Values, at);
            readout.textContent = value === undefined ? "" : shown(value);
          });
        },
      ],
      setScale: [
        (self, key): void => {
          const { min, max } = self.scales.x as uPlot.Scale;
          if (key !== "x" || min == null || max == null) return;
          const x = self.data[0] as ArrayLike<number>;
          chart.zoomed?.(min, max, min <= (x[0] ?? min) && max >= (x[x.length - 1] ?? max));
        },
      ],
    },
  };
  const plot = new uPlot(options, data, area);
  const xs = plot.data[0] as ArrayLike<number>;
  const whole = { min: xs[0] ?? 0, max: xs[xs.length - 1] ?? 1 };
  if (chart.zoom !== undefined) plot.setScale("x", { min: chart.zoom[0], max: chart.zoom[1] });
  chart.lines.forEach((line, place) =>
    legend.append(entry(line, readouts, (on) => plot.setSeries(place + 1, { show: on }))),
  );
  area.addEventListener("keydown", (event) => {
    const next = moved(event.key, plot, whole);
    if (next !== undefined) {
      plot.setScale("x", next);
      event.preventDefault();
    }
  });
  const observer = new ResizeObserver(() => {
    if (plot.width !== width()) plot.setSize({ width: width(), height: chart.height ?? 280 });
  });
  observer.observe(host);
  return {
    destroy: () => {
      observer.disconnect();
      plot.destroy();
      frame.remove();
    },
    restyle: () => plot.redraw(false, true),
  };
}

type Values = ArrayLike<number | null | undefined>;

const HELP = "Arrow keys move, plus and minus zoom, 0 shows all.";

/** The last value at or before a place: lines have not all the same times. */
function nearest(values: Values, at: number): number | undefined {
  for (let place = at; place >= 0 && place > at - 400; place -= 1) {
    const value = values[place];
    if (value === null) return undefined;
    if (value !== undefined) return value;
  }
  return undefined;
}

function rangeOf(chart: Chart, low: number | null, high: number | null): [number, number] {
  if (low === null || high === null) return chart.logY === true ? [1, 10] : [0, 1];
  if (chart.logY === true) return [low / 1.15, high * 1.15];
  const from = chart.yFrom ?? low;
  const room = (high - from || Math.abs(high) || 1) * 0.06;
  return [chart.yFrom ?? from - room, high + room];
}

function axis(host: Element, label: string, log: boolean): uPlot.Axis {
  const made: uPlot.Axis = {
    label,
    size: 34,
    labelSize: 20,
    font: "12px system-ui, sans-serif",
    labelFont: "12px system-ui, sans-serif",
    stroke: () => styleOf(host, "--ink"),
    grid: { stroke: () => styleOf(host, "--grid"), width: 1 },
    ticks: { stroke: () => styleOf(host, "--grid"), width: 1, size: 5 },
    values: (_, values) => values.map((value) => (value === null ? "" : shown(value))),
  };
  if (log) {
    made.splits = (_, __, low, high): number[] => {
      const found = logTicks(low, high);
      return found.length > 2 ? found : ticks(low, high);
    };
    made.filter = (_, splits): number[] => splits;
  }
  return made;
}

/** What a key does to the part of x that is looked at. */
function moved(
  key: string,
  plot: uPlot,
  whole: { min: number; max: number },
): { min: number; max: number } | undefined {
  const { min, max } = plot.scales.x as { min: number; max: number };
  const span = max - min;
  const [least, most] = [whole.min, whole.max];
  const bounded = (from: number, to: number) => ({ min: Math.max(least, from), max: Math.min(most, to) });
  if (key === "0" || key === "Escape") return whole;
  if (key === "+" || key === "=") return { min: min + span / 4, max: max - span / 4 };
  if (key === "-") return bounded(min - span / 2, max + span / 2);
  if (key === "ArrowLeft" && min > least)
    return { min: Math.max(least, min - span / 5), max: max - Math.min(span / 5, min - least) };
  if (key === "ArrowRight" && max < most)
    return { min: min + Math.min(span / 5, most - max), max: Math.min(most, max + span / 5) };
  return undefined;
}

function element(name: string, style: string): HTMLElement {
  const made = document.createElement(name);
  made.className = style;
  return made;
}

function hint(reset: () => void): HTMLElement {
  const made = element("p", "chart-hint");
  made.textContent = "Drag to zoom. ";
  const button = element("button", "chart-reset") as HTMLButtonElement;
  button.type = "button";
  button.textContent = "Show all";
  button.addEventListener("click", reset);
  made.append(button);
  return made;
}

const SVG = "http://www.w3.org/2000/svg";

/** A button of the legend: it shows and hides a line, and says its value under the pointer. */
function entry(line: Line, readouts: HTMLElement[], show: (on: boolean) => void): HTMLElement {
  const button = element("button", "chart-entry") as HTMLButtonElement;
  button.type = "button";
  button.setAttribute("aria-pressed", "true");
  const swatch = document.createElementNS(SVG, "svg");
  swatch.setAttribute("width", "26");
  swatch.setAttribute("height", "8");
  swatch.setAttribute("aria-hidden", "true");
  const stroke = document.createElementNS(SVG, "line");
  for (const [name, value] of Object.entries({ x1: 0, x2: 26, y1: 4, y2: 4, "stroke-width": 2.5 })) {
    stroke.setAttribute(name, String(value));
  }
  stroke.setAttribute("stroke", line.colour);
  stroke.setAttribute("stroke-dasharray", (line.dash ?? []).join(" "));
  swatch.append(stroke);
  const label = element("span", "chart-label");
  label.textContent = line.label;
  const readout = element("span", "chart-value");
  readout.setAttribute("aria-hidden", "true");
  readouts.push(readout);
  button.append(swatch, label, readout);
  button.addEventListener("click", () => {
    const on = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(on));
    show(on);
  });
  return button;
}
