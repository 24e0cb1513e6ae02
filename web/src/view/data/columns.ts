// The table of runs as columns.
import { quantityOf, valueOf } from "./quantity";

/** A column as the server sends it: texts are places in `words`. */
export interface Sent {
  name: string;
  kind: "text" | "number" | "whole";
  values: (number | null)[];
  words?: string[];
}

export interface TextColumn {
  kind: "text";
  name: string;
  places: Uint32Array;
  words: string[];
  /** The words in small letters, for a search. */
  small: string[];
}

export interface NumberColumn {
  kind: "number";
  name: string;
  /** NaN where a run has no value. */
  values: Float64Array;
}

export type Column = TextColumn | NumberColumn;

export interface Columns {
  rows: number;
  byName: Map<string, Column>;
}

export function columnsOf(rows: number, sent: Sent[]): Columns {
  const byName = new Map<string, Column>();
  for (const column of sent) {
    const { name } = column;
    if (column.kind === "text") {
      const words = (column.words ?? []).map((word) => String(word));
      const places = Uint32Array.from(column.values, (place) => place ?? 0);
      byName.set(name, { kind: "text", name, places, words, small: words.map((word) => word.toLowerCase()) });
    } else {
      byName.set(name, { kind: "number", name, values: Float64Array.from(column.values, (value) => value ?? NaN) });
    }
  }
  return { rows, byName };
}

export function textAt(columns: Columns, name: string, row: number): string {
  const column = columns.byName.get(name);
  if (column === undefined) return "";
  if (column.kind === "text") return column.words[column.places[row] ?? 0] ?? "";
  const value = column.values[row];
  return value === undefined || Number.isNaN(value) ? "" : String(value);
}

export function numberAt(columns: Columns, name: string, row: number): number {
  const column = columns.byName.get(name);
  return column?.kind === "number" ? (column.values[row] ?? NaN) : NaN;
}

/** Rows in the order of a column; those without a value come last, and equal ones keep their order. */
export function sorted(columns: Columns, rows: Uint32Array, name: string, descending: boolean): Uint32Array {
  const column = columns.byName.get(name);
  if (column === undefined) return rows;
  const sign = descending ? -1 : 1;
  if (column.kind === "number") {
    const { values } = column;
    return rows.slice().sort((a, b) => {
      const [x, y] = [values[a] as number, values[b] as number];
      if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y)) || a - b;
      return sign * (x - y) || a - b;
    });
  }
  const order = column.words.map((_, place) => place);
  const compare = new Intl.Collator("en", { numeric: true }).compare;
  const values = quantityOf(name) === undefined ? [] : column.words.map((word) => valueOf(name, word));
  order.sort(
    (a, b) => (values[a] ?? 0) - (values[b] ?? 0) || compare(column.words[a] as string, column.words[b] as string),
  );
  const rank = new Uint32Array(order.length);
  order.forEach((place, at) => (rank[place] = at));
  const rankOf = (row: number): number => rank[column.places[row] as number] as number;
  return rows.slice().sort((a, b) => sign * (rankOf(a) - rankOf(b)) || a - b);
}
