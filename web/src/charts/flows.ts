// One colour for each flow, by its number. Okabe and Ito's palette again, which colour-blind readers can tell apart.

const LIGHT = ["#0072b2", "#d55e00", "#00805c", "#b4558a", "#b87a00", "#2b8cc4", "#8c564b", "#5b7a17"];
const DARK = ["#4aa8e8", "#ff8533", "#1fc79a", "#e08fbd", "#e69f00", "#56b4e9", "#c98f82", "#9dc14a"];

export function flowColour(flow: number, dark: boolean): string {
  const palette = dark ? DARK : LIGHT;
  return palette[flow % palette.length] as string;
}
