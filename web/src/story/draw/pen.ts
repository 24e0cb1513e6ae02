// What all figures draw with: a canvas of the size of its place, the colours of the page, and the shapes of the flows.
// Flows are told apart by shape as well as by colour.

export type Shape = "square" | "circle" | "diamond" | "triangle";

export interface Colours {
  ink: string;
  faint: string;
  line: string;
  grid: string;
  panel: string;
  accent: string;
  call: string;
  game: string;
  upload: string;
  film: string;
  drop: string;
  good: string;
  open: string;
  bad: string;
}

const NAMES: (keyof Colours)[] = [
  "ink",
  "faint",
  "line",
  "grid",
  "panel",
  "accent",
  "call",
  "game",
  "upload",
  "film",
  "drop",
  "good",
  "open",
  "bad",
];

export function coloursOf(element: Element): Colours {
  const style = getComputedStyle(element);
  return Object.fromEntries(
    NAMES.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]),
  ) as unknown as Colours;
}

/** A canvas that is drawn on, in pixels of the page. */
export class Pen {
  constructor(
    readonly context: CanvasRenderingContext2D,
    readonly width: number,
    readonly height: number,
    readonly colours: Colours,
  ) {}

  /** The pen of a canvas, cleared; its bitmap follows the size of the canvas on the page. */
  static of(canvas: HTMLCanvasElement, colours: Colours): Pen | null {
    const context = canvas.getContext("2d");
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (context === null || width === 0 || height === 0) return null;
    const scale = Math.min(2, window.devicePixelRatio || 1);
    const [wide, high] = [Math.round(width * scale), Math.round(height * scale)];
    if (canvas.width !== wide || canvas.height !== high) [canvas.width, canvas.height] = [wide, high];
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, height);
    context.globalAlpha = 1;
    return new Pen(context, width, height, colours);
  }

  /** Whether the picture is small: then what is not needed is left out. */
  get small(): boolean {
    return this.width < 520;
  }

  shape(shape: Shape, x: number, y: number, size: number, colour: string): void {
    const { context } = this;
    const half = size / 2;
    context.fillStyle = colour;
    if (shape === "square") {
      context.fillRect(x - half, y - half, size, size);
      return;
    }
    context.beginPath();
    if (shape === "circle") context.arc(x, y, half, 0, 2 * Math.PI);
    else {
      const wide = half * 1.2;
      context.moveTo(x, y - wide);
      context.lineTo(x + wide, shape === "diamond" ? y : y + wide);
      context.lineTo(shape === "diamond" ? x : x - wide, shape === "diamond" ? y + wide : y + wide);
      if (shape === "diamond") context.lineTo(x - wide, y);
    }
    context.fill();
  }

  /** A cross, for a packet that is dropped. */
  cross(x: number, y: number, size: number): void {
    this.lines(
      [
        [x - size / 2, y - size / 2, x + size / 2, y + size / 2],
        [x - size / 2, y + size / 2, x + size / 2, y - size / 2],
      ],
      this.colours.drop,
      2.5,
    );
  }

  lines(lines: [number, number, number, number][], colour: string, width = 1, dash: number[] = []): void {
    const { context } = this;
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.setLineDash(dash);
    context.beginPath();
    for (const [x, y, toX, toY] of lines) {
      context.moveTo(x, y);
      context.lineTo(toX, toY);
    }
    context.stroke();
    context.setLineDash([]);
  }

  curve(points: [number, number][], colour: string, width: number, dash: number[] = []): void {
    const { context } = this;
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.setLineDash(dash);
    context.beginPath();
    points.forEach(([x, y], i) => (i === 0 ? context.moveTo(x, y) : context.lineTo(x, y)));
    context.stroke();
    context.setLineDash([]);
  }

  box(x: number, y: number, width: number, height: number, edge: string, fill?: string, round = 8): void {
    const { context } = this;
    context.beginPath();
    context.roundRect(x, y, width, height, round);
    if (fill !== undefined) {
      context.fillStyle = fill;
      context.fill();
    }
    context.strokeStyle = edge;
    context.lineWidth = 2;
    context.stroke();
  }

  text(
    text: string,
    x: number,
    y: number,
    { size = 13, colour = this.colours.ink, align = "left" as CanvasTextAlign, bold = false, most = Infinity } = {},
  ): void {
    const { context } = this;
    context.textAlign = align;
    context.textBaseline = "middle";
    context.fillStyle = colour;
    const font = (pixels: number): string => `${bold ? 700 : 500} ${pixels}px system-ui, sans-serif`;
    context.font = font(size);
    // What is too long in a language is written smaller, not cut.
    const wide = context.measureText(text).width;
    if (wide > most) context.font = font(Math.max(9, (size * most) / wide));
    context.fillText(text, x, y);
  }
}
