import type { Catalogue } from "../../engine/protocol";
import type { Lab } from "./lab";

// What is typed into the form, with its unit. `tc` takes a bare 50 for 50 microseconds and 10mbps for 80 Mbit/s; a form
// that is read by people takes neither.

/** What was typed cannot be meant: one sentence that names the field, the value and the rule. */
export class Unclear extends Error {}

const RATE = "a rate with its unit: kbit, mbit or gbit, such as 10mbit";
const TIME = "a time with its unit: us, ms or s, such as 50ms";

const wrong = (field: string, text: string, rule: string): Unclear =>
  new Unclear(`${field} is “${text}”, but must be ${rule}.`);

/** A rate in the spelling of `tc`; “10 Mbit/s” is one. */
export function rateOf(field: string, text: string): string {
  const found = /^(\d+(?:\.\d*)?|\.\d+) *([a-z]*)(?:\/s)?$/i.exec(text.trim());
  if (found === null) throw wrong(field, text, RATE);
  const [number, unit] = [found[1] as string, (found[2] as string).toLowerCase()];
  if (/^([kmgt]i?)?bps$/.test(unit)) {
    throw wrong(
      field,
      text,
      `${RATE}; tc takes ${unit} for bytes, so this would be 8 times ${number}${unit.replace("bps", "bit")}`,
    );
  }
  if (/^([kmgt]i?)?bit$/.test(unit)) return number + unit;
  throw wrong(field, text, RATE);
}

/** A time in the spelling of `tc`. */
export function timeOf(field: string, text: string): string {
  const found = /^(\d+(?:\.\d*)?|\.\d+) *(ns|us|usecs?|ms|msecs?|s|secs?)$/i.exec(text.trim());
  if (found === null) throw wrong(field, text, TIME);
  return (found[1] as string) + (found[2] as string).toLowerCase();
}

/** A discipline, each time and rate of which has a unit as far as it is known which words are such. */
function disciplineOf(field: string, text: string, catalogue: Catalogue | undefined): string {
  const [kind, ...words] = text.trim().split(/\s+/);
  const units = new Map(
    catalogue?.disciplines.find((one) => one.name === kind)?.words.map((word) => [word.name, word.unit]),
  );
  words.forEach((word, place) => {
    const unit = units.get(words[place - 1] ?? "");
    if (unit === "time" && /^[\d.]+$/.test(word)) timeOf(`${words[place - 1]} of ${field}`, word);
    if (unit === "rate" && /^[\d.]+([kmgt]i?bps)?$/i.test(word)) rateOf(`${words[place - 1]} of ${field}`, word);
  });
  return text;
}

/** What the form holds, in the spelling of the simulator. Throws `Unclear` where a unit is missing or says something else. */
export function readLab(lab: Lab, catalogue?: Catalogue): Lab {
  return {
    ...lab,
    down: rateOf("Down", lab.down),
    up: rateOf("Up", lab.up),
    rtt: timeOf("RTT", lab.rtt),
    qdiscUp: disciplineOf("the discipline up", lab.qdiscUp, catalogue),
    qdiscDown: disciplineOf("the discipline down", lab.qdiscDown, catalogue),
    duration: timeOf("Duration", lab.duration),
  };
}
