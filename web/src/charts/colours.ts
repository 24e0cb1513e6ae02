// One colour and one dash for each discipline, in this one place; python/sojourn/plots/style.py has the same colours.
// They are Okabe and Ito's palette, which colour-blind readers can tell apart. On a dark page the dark ones are lighter.

interface Look {
  light: string;
  dark: string;
}

const OWN: Record<string, Look> = {
  pfifo_fast: { light: "#333333", dark: "#c9ced6" },
  pfifo: { light: "#333333", dark: "#c9ced6" },
  fifo: { light: "#333333", dark: "#c9ced6" },
  ared: { light: "#b87a00", dark: "#e69f00" },
  red: { light: "#b87a00", dark: "#e69f00" },
  pie: { light: "#d55e00", dark: "#ff8533" },
  airtime: { light: "#d55e00", dark: "#ff8533" },
  codel: { light: "#b4558a", dark: "#e08fbd" },
  sfq: { light: "#2b8cc4", dark: "#56b4e9" },
  fq_codel: { light: "#0072b2", dark: "#4aa8e8" },
  fq_nocodel: { light: "#00805c", dark: "#1fc79a" },
  fq_mac: { light: "#00805c", dark: "#1fc79a" },
  cake: { light: "#7a6faa", dark: "#a99fe0" },
};
const OTHERS: Look[] = [
  { light: "#8c564b", dark: "#c98f82" },
  { light: "#6a5fa0", dark: "#a99fe0" },
  { light: "#5b7a17", dark: "#9dc14a" },
  { light: "#b5485d", dark: "#e58598" },
  { light: "#127078", dark: "#45b8c2" },
  { light: "#856415", dark: "#cfa64b" },
];
const DASHES: number[][] = [[], [8, 4], [2, 3], [10, 3, 2, 3], [4, 2], [14, 4], [1, 6], [12, 3, 2, 3, 2, 3]];

/** What a discipline is called in a figure: `gbw:codel` is `codel`, tc text keeps its first word. */
export function kindOf(label: string): string {
  const last = label.slice(label.lastIndexOf(":") + 1).trim();
  return last.split(/\s+/, 1)[0] || label;
}

/** A colour for each label: its discipline's own if no other label has it, else one of the others in turn. */
export function colours(labels: string[], dark: boolean): Map<string, string> {
  const chosen = new Map<string, string>();
  const taken = new Set<string>();
  let next = 0;
  for (const label of labels) {
    if (chosen.has(label)) continue;
    const own = Object.hasOwn(OWN, kindOf(label)) ? OWN[kindOf(label)] : undefined;
    let look = own;
    if (look === undefined || taken.has(look.light)) {
      look = OTHERS[next % OTHERS.length] as Look;
      next += 1;
    }
    taken.add(look.light);
    chosen.set(label, dark ? look.dark : look.light);
  }
  return chosen;
}

/** The dash of the n-th line of one colour: lines are never told apart by colour alone. */
export function dashOf(number: number): number[] {
  return DASHES[number % DASHES.length] as number[];
}
