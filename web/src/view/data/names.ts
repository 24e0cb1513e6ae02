// The columns of the table as people call them.

export interface Named {
  name: string;
  title: string;
  unit: string;
  kind: "text" | "number";
}

const text = (name: string, title: string): Named => ({ name, title, unit: "", kind: "text" });
const number = (name: string, title: string, unit = ""): Named => ({ name, title, unit, kind: "number" });

export const COLUMNS: Named[] = [
  text("folder", "Folder"),
  text("experiment", "Experiment"),
  text("link", "Link"),
  text("qdisc", "Discipline"),
  text("setting", "What else differs"),
  number("seed", "Seed"),
  text("rtt", "RTT"),
  text("duration", "Duration"),
  number("flows", "Flows"),
  number("goodput_up_mbit", "Goodput up", "Mbit/s"),
  number("goodput_down_mbit", "Goodput down", "Mbit/s"),
  number("induced_latency_ms", "Induced latency", "ms"),
  number("rtt_mean_ms", "RTT mean", "ms"),
  number("rtt_median_ms", "RTT median", "ms"),
  number("rtt_p5_ms", "RTT p5", "ms"),
  number("rtt_p95_ms", "RTT p95", "ms"),
  number("rtt_p99_ms", "RTT p99", "ms"),
  number("probe_loss", "Probe loss"),
  number("jain_up", "Jain up"),
  number("jain_down", "Jain down"),
  number("page_fetch_s", "Page fetch", "s"),
  number("fct_ms", "Flow completion", "ms"),
  number("voip_delay_ms", "Voice delay", "ms"),
  number("voip_loss", "Voice loss"),
  text("backend", "Back end"),
  text("up", "Up"),
  text("down", "Down"),
  text("qdisc_up", "Discipline up, in full"),
  text("qdisc_down", "Discipline down, in full"),
  text("code_version", "Version"),
  text("claims", "Claims"),
  text("id", "Run"),
];

/** Those of the table as it opens. */
export const FIRST_SHOWN = [
  "folder",
  "experiment",
  "link",
  "qdisc",
  "setting",
  "seed",
  "goodput_up_mbit",
  "goodput_down_mbit",
  "induced_latency_ms",
  "rtt_median_ms",
  "rtt_p95_ms",
  "jain_up",
  "jain_down",
];

/** What can be compared. */
export const METRICS = COLUMNS.filter((column) => column.kind === "number" && !["seed", "flows"].includes(column.name));

const WORDS: Record<string, string> = {
  rtt_ms: "Round-trip time (ms)",
  goodput_mbit: "Goodput (Mbit/s)",
  cwnd_segments: "Congestion window (segments)",
  backlog_packets: "Backlog (packets)",
  drops: "Drops since the beginning (packets)",
  packets: "Packets since the beginning",
  airtime_ms: "Airtime (ms)",
  voip_delay_ms: "Voice delay (ms)",
  voip_max_ms: "Voice delay, largest (ms)",
};

/** What a series is called on an axis. */
export function seriesName(metric: string): string {
  return Object.hasOwn(WORDS, metric) ? (WORDS[metric] as string) : metric;
}

export function titleOf(metric: string): string {
  const found = COLUMNS.find((column) => column.name === metric);
  return found === undefined ? metric : found.title + (found.unit === "" ? "" : ` (${found.unit})`);
}
