// Rates and times of a scenario as numbers, so that 1gbit is more than 100mbit.

const UNITS: Record<"rate" | "time", Record<string, number>> = {
  rate: { bit: 1, kbit: 1e3, mbit: 1e6, gbit: 1e9, tbit: 1e12 },
  time: { ns: 1, us: 1e3, ms: 1e6, s: 1e9 },
};

/** The columns that hold quantities, and an example of each. */
const COLUMNS: Record<string, { of: "rate" | "time"; such: string }> = {
  up: { of: "rate", such: "a rate such as 100mbit" },
  down: { of: "rate", such: "a rate such as 100mbit" },
  rtt: { of: "time", such: "a time such as 50ms" },
  duration: { of: "time", such: "a time such as 30s" },
};

/** What a column is compared with, in words; undefined if it holds plain texts. */
export function quantityOf(column: string): string | undefined {
  return Object.hasOwn(COLUMNS, column) ? COLUMNS[column]?.such : undefined;
}

/** The quantity that a text of a column says, in bit/s or ns; NaN if it says none. */
export function valueOf(column: string, text: string): number {
  const known = Object.hasOwn(COLUMNS, column) ? COLUMNS[column] : undefined;
  const found = /^(\d+(?:\.\d*)?|\.\d+)([a-z]+)$/.exec(text.trim().toLowerCase());
  if (known === undefined || found === null) return NaN;
  const unit = UNITS[known.of][found[2] as string];
  // 0.1s and 100ms are the same, though 0.1 is not quite a tenth.
  return unit === undefined ? NaN : Math.round(Number(found[1]) * unit);
}
