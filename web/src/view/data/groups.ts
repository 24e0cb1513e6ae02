// Runs in groups, by what any of their keys says: a column of texts, or one of the things that else differ.
import { numberAt, type Columns } from "./columns";
import { METRICS } from "./names";
import { valueOf } from "./quantity";

export interface Key {
  name: string;
  of: (row: number) => string;
  /** The filter that keeps the rows with a value. */
  filter: (value: string) => string;
}

export interface Cell {
  n: number;
  mean: number;
  least: number;
  most: number;
}

export interface Groups {
  down: string[];
  across: string[];
  /** By the places of their values, down and across. */
  cells: (Cell | undefined)[][];
  /** Keys that differ within some cell, whose mean pools them. */
  pooled: string[];
}

/** Most values of a key that is offered. */
const MOST_VALUES = 60;
/** Columns that name a run, or say the same as others. */
const NO_KEYS = ["id", "source", "claims", "seed", "setting", "seeds"];
const NONE = "–";

const quoted = (text: string): string => `"${text.replaceAll('"', "")}"`;

/** The keys by which rows differ, and not each from all others. */
export function keysOf(columns: Columns, rows: Uint32Array): Key[] {
  const found: Key[] = [];
  for (const column of columns.byName.values()) {
    if (NO_KEYS.includes(column.name) || METRICS.some((metric) => metric.name === column.name)) continue;
    const { name } = column;
    const of =
      column.kind === "text"
        ? (row: number): string => column.words[column.places[row] ?? 0] || NONE
        : (row: number): string => (Number.isNaN(column.values[row]) ? NONE : String(column.values[row]));
    found.push({ name, of, filter: (value) => `${name}=${column.kind === "text" ? quoted(value) : value}` });
  }
  const setting = columns.byName.get("setting");
  if (setting?.kind === "text") {
    const parts = setting.words.map((words) => new Map(words.split(", ").map((part) => split(part))));
    for (const name of new Set(parts.flatMap((each) => [...each.keys()]))) {
      if (name === "" || columns.byName.has(name)) continue;
      const of = (row: number): string => parts[setting.places[row] ?? 0]?.get(name) ?? NONE;
      found.push({ name, of, filter: (value) => `setting~${quoted(`${name} ${value}`)}` });
    }
  }
  return found.filter(({ of }) => {
    const values = new Set<string>();
    for (const row of rows) if (values.add(of(row)).size > MOST_VALUES) return false;
    return values.size > 1 && 2 * values.size <= rows.length;
  });
}

function split(part: string): [string, string] {
  const at = part.indexOf(" ");
  return at < 0 ? [part, ""] : [part.slice(0, at), part.slice(at + 1)];
}

/** The rows in groups of one key or two, with the mean of a column in each. A row without a value is in no mean. */
export function grouped(
  columns: Columns,
  rows: Uint32Array,
  keys: Key[],
  down: Key,
  across: Key | undefined,
  metric: string,
): Groups {
  const cells = new Map<string, Map<string, { values: number[]; rows: number[] }>>();
  for (const row of rows) {
    const value = numberAt(columns, metric, row);
    if (Number.isNaN(value)) continue;
    const [y, x] = [down.of(row), across?.of(row) ?? ""];
    const line = cells.get(y) ?? new Map<string, { values: number[]; rows: number[] }>();
    cells.set(y, line);
    const cell = line.get(x) ?? { values: [], rows: [] };
    line.set(x, cell);
    cell.values.push(value);
    cell.rows.push(row);
  }
  const ys = [...cells.keys()].sort(byValue);
  const xs = [...new Set([...cells.values()].flatMap((line) => [...line.keys()]))].sort(byValue);
  const others = keys.filter((key) => key !== down && key !== across);
  const all = [...cells.values()].flatMap((line) => [...line.values()]);
  return {
    down: ys,
    across: xs,
    cells: ys.map((y) => xs.map((x) => cellOf(cells.get(y)?.get(x)?.values))),
    pooled: others.filter(({ of }) => all.some((cell) => new Set(cell.rows.map(of)).size > 1)).map(({ name }) => name),
  };
}

function cellOf(values: number[] | undefined): Cell | undefined {
  if (values === undefined) return undefined;
  let [sum, least, most] = [0, Infinity, -Infinity];
  for (const value of values) [sum, least, most] = [sum + value, Math.min(least, value), Math.max(most, value)];
  return { n: values.length, mean: sum / values.length, least, most };
}

const collator = new Intl.Collator("en", { numeric: true });

/** Rates and times by what they are, and all else as people sort it. */
function byValue(a: string, b: string): number {
  for (const kind of ["up", "rtt"]) {
    const [x, y] = [valueOf(kind, a), valueOf(kind, b)];
    if (!Number.isNaN(x) && !Number.isNaN(y)) return x - y;
  }
  return collator.compare(a, b);
}

/** How strong the colour behind each mean is, 0 to 1: by its logarithm where means are far apart. */
export function strengths(cells: (Cell | undefined)[][]): (mean: number) => number {
  const means = cells.flat().flatMap((cell) => (cell === undefined ? [] : [cell.mean]));
  const [least, most] = [Math.min(...means), Math.max(...means)];
  const scale = least > 0 && most > 8 * least ? Math.log : (value: number): number => value;
  return (mean) => (most > least ? (scale(mean) - scale(least)) / (scale(most) - scale(least)) : 0);
}
