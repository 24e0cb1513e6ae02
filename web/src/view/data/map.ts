// What a map says, in short.
import type { MapCells } from "../api";
import { columnsOf, type Columns } from "./columns";

/** What comes of a cell, or follows from where it is: by that cells are not grouped. */
const NO_SETTINGS = ["verdict", "seeds"];

/** The cells as a table of runs is: a column of numbers has nothing else. */
export function tableOf({ columns, rows }: MapCells): Columns {
  const dropped = columns.includes("bottleneck") ? [...NO_SETTINGS, "qdisc"] : NO_SETTINGS;
  const sent = columns.flatMap((name, place) => {
    if (dropped.includes(name)) return [];
    const values = rows.map((row) => row[place] ?? null);
    if (values.every((value) => typeof value !== "string"))
      return { name, kind: "number" as const, values: values.map((value) => (value === null ? null : Number(value))) };
    const words = [...new Set(values.map((value) => String(value ?? "")))];
    return { name, kind: "text" as const, words, values: values.map((value) => words.indexOf(String(value ?? ""))) };
  });
  return columnsOf(rows.length, sent);
}

/** The columns that hold one value in all cells, by their places; a map of one cell has none. */
export function constants({ columns, rows }: MapCells): Map<number, string> {
  const found = new Map<number, string>();
  if (rows.length < 2) return found;
  columns.forEach((_, place) => {
    const first = rows[0]?.[place];
    if (rows.every((row) => row[place] === first)) found.set(place, String(first ?? "–"));
  });
  return found;
}

/** How many cells have each verdict, the most frequent first; empty of a map without verdicts. */
export function verdicts({ columns, rows }: MapCells): [string, number][] {
  const place = columns.indexOf("verdict");
  const counts = new Map<string, number>();
  if (place >= 0) for (const row of rows) counts.set(String(row[place]), (counts.get(String(row[place])) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]);
}

/** The colour behind a share in per cent: none at 50, stronger towards both ends. */
export function shade(column: string, value: string | number | null): string | undefined {
  if (column !== "share" || typeof value !== "number") return undefined;
  const strength = Math.round(Math.min(Math.abs(value - 50), 50));
  return `color-mix(in srgb, ${value > 50 ? "#d55e00" : "#0072b2"} ${strength}%, transparent)`;
}
