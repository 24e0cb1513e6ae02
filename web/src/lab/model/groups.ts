// Flows of one congestion control in a row, as the form shows them.

export interface Group {
  count: number;
  control: string;
}

export const MOST_FLOWS = 64;

/** The runs of equal controls: cubic, cubic, bbr are two groups. */
export function groupsOf(flows: string[]): Group[] {
  const groups: Group[] = [];
  for (const control of flows) {
    const last = groups[groups.length - 1];
    if (last !== undefined && last.control === control) last.count += 1;
    else groups.push({ count: 1, control });
  }
  return groups;
}

/** The flows of the groups, at most `MOST_FLOWS`. */
export function flowsOf(groups: Group[]): string[] {
  return groups
    .flatMap(({ count, control }) => Array.from({ length: whole(count, 0, MOST_FLOWS) }, () => control))
    .slice(0, MOST_FLOWS);
}

/** A number that was typed, as a whole one within bounds. */
export function whole(value: unknown, least: number, most: number): number {
  const number = Math.floor(Number(value));
  return Number.isFinite(number) ? Math.min(most, Math.max(least, number)) : least;
}
