import { parse, TomlError } from "smol-toml";
import type { Scenario } from "../../engine/protocol";

// A scenario that was typed or pasted: JSON if it begins with a brace, else TOML, as `sojourn run FILE` takes it.

const LARGEST = 1_048_576;

/** A sentence about a text that holds no scenario. */
export class BadText extends Error {}

/** The scenario, not yet judged by the simulator. A record of a run holds one too, under `scenario`. */
export function fromText(text: string): Scenario {
  if (text.length > LARGEST) {
    throw new BadText(`The text has ${text.length} characters, but at most ${LARGEST} are read.`);
  }
  const value = text.trimStart().startsWith("{") ? fromJson(text) : fromToml(text);
  const inner = value["scenario"];
  return isTable(inner) ? inner : value;
}

function fromJson(text: string): Scenario {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new BadText(`The text is not JSON: ${error instanceof Error ? error.message : String(error)}.`);
  }
  if (!isTable(value)) throw new BadText("The text is not an object of JSON, but a scenario is one.");
  return value;
}

function fromToml(text: string): Scenario {
  try {
    return plain(parse(text)) as Scenario;
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const what = error.message.split("\n")[0]?.replace(/^Invalid TOML document: /, "") ?? "";
    throw new BadText(`The text is not TOML: ${what} (line ${error.line}).`);
  }
}

/** Tables of the parser have no prototype; dates, which no scenario has, become text, and the simulator refuses them. */
function plain(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(plain);
  return isTable(value) ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, plain(one)])) : value;
}

function isTable(value: unknown): value is Scenario {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
