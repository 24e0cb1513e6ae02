import type { Scenario } from "../../engine/protocol";

// A scenario as TOML. Only what a scenario can hold is written: text, numbers, booleans, lists and tables.

/** The scenario as a file that `sojourn run FILE` takes. */
export function toToml(scenario: Scenario): string {
  const lines: string[] = [];
  for (const [key, value] of Object.entries(scenario)) {
    if (value === undefined || value === null) continue;
    lines.push(`${name(key)} = ${inline(value, key)}`);
  }
  return lines.join("\n") + "\n";
}

function name(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : text(key);
}

function inline(value: unknown, key: string): string {
  if (typeof value === "string") return text(value);
  if (typeof value === "boolean") return String(value);
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new Error(`${key} is ${value}, but TOML here holds finite numbers only`);
    // TOML wants a digit on both sides of the point; an exponent may stand without a point.
    return String(value);
  }
  if (Array.isArray(value)) return `[${value.map((one: unknown) => inline(one, key)).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const pairs = Object.entries(value).filter(([, one]) => one !== undefined && one !== null);
    return `{ ${pairs.map(([inner, one]) => `${name(inner)} = ${inline(one, inner)}`).join(", ")} }`;
  }
  throw new Error(`${key} is of type ${typeof value}, but a scenario holds text, numbers, booleans, lists and tables`);
}

/** A basic string. JSON escapes the same characters, except for DEL. */
function text(value: string): string {
  return JSON.stringify(value).replaceAll("\u007f", "\\u007f");
}
