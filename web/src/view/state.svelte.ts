// What the parts of the page share: the table, and which of its runs are selected.
import { isDark, onTheme } from "../theme/theme";
import { textAt, type Columns } from "./data/columns";

/** Most runs whose lines are drawn over each other. */
export const MOST_SELECTED = 8;

export interface Selected {
  source: number;
  id: string;
  qdisc: string;
  label: string;
}

/** The selection, by row of the table: a run keeps its row, for rows are only added at the end of a folder. */
export class Selection {
  ids = $state<string[]>([]);

  has(key: string): boolean {
    return this.ids.includes(key);
  }

  get full(): boolean {
    return this.ids.length >= MOST_SELECTED;
  }

  toggle(key: string): void {
    if (this.has(key)) this.ids = this.ids.filter((each) => each !== key);
    else if (!this.full) this.ids = [...this.ids, key];
  }

  set(keys: string[]): void {
    this.ids = keys.slice(0, MOST_SELECTED);
  }
}

export function keyOf(columns: Columns, row: number): string {
  return `${textAt(columns, "source", row)}/${textAt(columns, "id", row)}`;
}

/** The selected runs with the labels that tell them apart. */
export function selectedRuns(columns: Columns, selection: Selection): Selected[] {
  const wanted = new Set(selection.ids);
  const found = new Map<string, number>();
  for (let row = 0; row < columns.rows && found.size < wanted.size; row += 1) {
    const key = keyOf(columns, row);
    if (wanted.has(key)) found.set(key, row);
  }
  const rows = selection.ids.flatMap((key) => found.get(key) ?? []);
  const parts = ["qdisc", "link", "setting", "seed", "experiment", "folder"];
  const differing = parts.filter(
    (part) => part === "qdisc" || new Set(rows.map((row) => textAt(columns, part, row))).size > 1,
  );
  return rows.map((row) => ({
    source: Number(textAt(columns, "source", row)),
    id: textAt(columns, "id", row),
    qdisc: textAt(columns, "qdisc", row),
    label: differing
      .map((part) => (part === "seed" ? "seed " : "") + textAt(columns, part, row))
      .filter((word) => word !== "")
      .join(", "),
  }));
}

/** Whether the page is dark, as a value that parts of the page follow. */
export class Darkness {
  now = $state(isDark());

  constructor() {
    onTheme(() => (this.now = isDark()));
  }
}
