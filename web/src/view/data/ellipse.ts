// The one-sigma ellipse of two quantities over repeats, as sojourn.stats.ellipse computes it.

export interface Ellipse {
  /** The centre: the medians. */
  x: number;
  y: number;
  /** Half axes; 0 with fewer than two repeats. */
  major: number;
  minor: number;
  /** From the x axis to the major axis, anticlockwise, rad. */
  angle: number;
}

export function median(values: number[]): number {
  const ordered = values.slice().sort((a, b) => a - b);
  const middle = ordered.length >> 1;
  if (ordered.length % 2 === 1) return ordered[middle] as number;
  return ((ordered[middle - 1] as number) + (ordered[middle] as number)) / 2;
}

const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** The ellipse of the sample covariance (n - 1), centred at the medians. Both have the same length, at least one. */
export function oneSigma(xs: number[], ys: number[]): Ellipse {
  const centre = { x: median(xs), y: median(ys) };
  const count = xs.length;
  if (count < 2) return { ...centre, major: 0, minor: 0, angle: 0 };
  const [meanX, meanY] = [mean(xs), mean(ys)];
  let [xx, xy, yy] = [0, 0, 0];
  for (let at = 0; at < count; at += 1) {
    const [dx, dy] = [(xs[at] as number) - meanX, (ys[at] as number) - meanY];
    xx += dx * dx;
    xy += dx * dy;
    yy += dy * dy;
  }
  [xx, xy, yy] = [xx / (count - 1), xy / (count - 1), yy / (count - 1)];
  const half = Math.hypot((xx - yy) / 2, xy);
  const middle = (xx + yy) / 2;
  const angle = Math.atan2(2 * xy, xx - yy) / 2;
  return { ...centre, major: Math.sqrt(middle + half), minor: Math.sqrt(Math.max(0, middle - half)), angle };
}

/** Points on the outline; the last is the first. */
export function outline(shape: Ellipse, points = 73): [number, number][] {
  const [cos, sin] = [Math.cos(shape.angle), Math.sin(shape.angle)];
  return Array.from({ length: points }, (_, at) => {
    const turn = (2 * Math.PI * at) / (points - 1);
    const [along, across] = [shape.major * Math.cos(turn), shape.minor * Math.sin(turn)];
    return [shape.x + along * cos - across * sin, shape.y + along * sin + across * cos];
  });
}
