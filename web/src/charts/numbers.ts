// Numbers and axes as text.

/** A number with a few significant digits, without an exponent where that is readable. */
export function shown(value: number | null | undefined, digits = 4): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e7 || size < 1e-4)) return value.toExponential(2);
  return String(Number(value.toPrecision(digits)));
}

/** About `count` round numbers from `low` to `high`. */
export function ticks(low: number, high: number, count = 5): number[] {
  if (!(high > low)) return [low];
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? 10 * power;
  const found: number[] = [];
  for (let place = Math.ceil(low / step - 1e-9); place * step <= high + step * 1e-9; place += 1) {
    found.push(Number((place * step).toPrecision(12)));
  }
  return found;
}

/** 1, 2 and 5 times the powers of ten from `low` to `high`, both positive. */
export function logTicks(low: number, high: number): number[] {
  const found: number[] = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
    for (const factor of [1, 2, 5]) {
      const tick = Number((factor * 10 ** power).toPrecision(3));
      if (tick >= low && tick <= high) found.push(tick);
    }
  }
  return found;
}
