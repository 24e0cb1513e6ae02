// What the address of the laboratory holds beside the scenario: rates that were dragged, how far to go, and how fast.

export interface Drag {
  /** Simulated time, s. */
  atS: number;
  direction: "up" | "down";
  bitsPerSecond: number;
}

export interface Moment {
  drags: Drag[];
  /** To this time the run goes at once. */
  atS: number;
  speed: number;
}

/** A sentence about an address whose query cannot be meant. */
export class BadMoment extends Error {}

const MOST_DRAGS = 500;
const wrong = (key: string, value: string, rule: string): BadMoment =>
  new BadMoment(`The link has ${key} “${value}”, but it must be ${rule}.`);

function numberOf(query: URLSearchParams, key: string, otherwise: number, most: number): number {
  const text = query.get(key);
  if (text === null) return otherwise;
  const value = Number(text);
  if (text.trim() === "" || !(value >= 0 && value <= most)) throw wrong(key, text, `a number from 0 to ${most}`);
  return value;
}

/** Reads `rates=12.5:up:1000000,…`, `at` and `speed`; `speed=0` is as fast as it can. */
export function fromQuery(query: URLSearchParams): Moment {
  const text = query.get("rates") ?? "";
  const parts = text === "" ? [] : text.split(",");
  if (parts.length > MOST_DRAGS) throw wrong("rates", `${text.slice(0, 20)}…`, `a list of at most ${MOST_DRAGS}`);
  const drags = parts.map((part): Drag => {
    const [at = "", direction, rate = ""] = part.split(":");
    const [atS, bitsPerSecond] = [Number(at), Number(rate)];
    const known = direction === "up" || direction === "down";
    if (!known || at === "" || !(atS >= 0 && atS <= 86_400) || !(bitsPerSecond >= 1000 && bitsPerSecond <= 100e9)) {
      throw wrong("rates", part, "a time in s, up or down, and a rate in bit/s, such as 12.5:up:1000000");
    }
    return { atS, direction, bitsPerSecond };
  });
  drags.sort((one, other) => one.atS - other.atS);
  const speed = numberOf(query, "speed", 1, 1000);
  return { drags, atS: numberOf(query, "at", 0, 86_400), speed: speed === 0 ? Infinity : speed };
}

/** Writes what `fromQuery` reads; what is as usual is left out. */
export function toQuery(query: URLSearchParams, moment: Partial<Moment>): void {
  const put = (key: string, value: string): void => (value === "" ? query.delete(key) : query.set(key, value));
  const rates = (moment.drags ?? []).map((drag) => `${drag.atS}:${drag.direction}:${drag.bitsPerSecond}`);
  put("rates", rates.join(","));
  put("at", moment.atS === undefined || moment.atS === 0 ? "" : String(moment.atS));
  const { speed } = moment;
  put("speed", speed === undefined || speed === 1 ? "" : String(Number.isFinite(speed) ? speed : 0));
}
