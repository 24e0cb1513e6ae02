import type { Scenario } from "../../engine/protocol";

// What the form of the laboratory holds, and the scenario that it means.

export interface Station {
  name: string;
  /** As `wifi.stations[].rate`, such as "ht mcs 15 20mhz sgi". */
  rate: string;
}

export interface Lab {
  up: string;
  down: string;
  rtt: string;
  /** `tc` text. */
  qdiscUp: string;
  qdiscDown: string;
  /** One congestion control for each TCP flow. */
  flowsUp: string[];
  flowsDown: string[];
  voice: boolean;
  pages: boolean;
  /** Absent: a wire in place of the Wi-Fi cell. */
  wifi?: { scheme: "airtime" | "fq_mac" | "fq_codel" | "fifo"; stations: Station[] };
  ecn: boolean;
  duration: string;
  seed: number;
}

export const FIRST: Lab = {
  up: "10mbit",
  down: "10mbit",
  rtt: "50ms",
  qdiscUp: "pfifo limit 1000",
  qdiscDown: "pfifo limit 1000",
  flowsUp: ["cubic"],
  flowsDown: ["cubic"],
  voice: false,
  pages: false,
  ecn: false,
  duration: "30s",
  seed: 1,
};

/** Bytes of a small page: the document, then two objects. */
const PAGE = [56000, 20000, 10000];

/** Whether it is the built-in experiment `bulk`: flows of one control, and a ping. */
export function isBulk(lab: Lab): boolean {
  const controls = new Set([...lab.flowsUp, ...lab.flowsDown]);
  return controls.size === 1 && !lab.voice && !lab.pages && !lab.ecn && lab.wifi === undefined;
}

/** The scenario that the form means. Flows have the names that the built-in experiments give them. Traffic of a cell is dealt out to its stations in turn. */
export function toScenario(lab: Lab): Scenario {
  const stations = lab.wifi?.stations ?? [];
  const at = (index: number): { station?: string } => {
    const station = stations[index % Math.max(stations.length, 1)];
    return station === undefined ? {} : { station: station.name };
  };
  const flows = (direction: "up" | "down", controls: string[]): Scenario[] =>
    controls.map((control, index) => ({
      name: `tcp_${direction}_${index + 1}`,
      direction,
      congestion_control: control,
      ...at(index),
    }));
  const probes: Scenario[] = [{ name: "ping", kind: "icmp", ...at(0) }];
  if (lab.voice) {
    probes.push({ name: "voice-up", kind: "voip", direction: "up", ...at(0) });
    probes.push({ name: "voice-down", kind: "voip", direction: "down", ...at(0) });
  }
  const scenario: Scenario = {
    experiment: isBulk(lab) ? "bulk" : "lab",
    duration: lab.duration,
    up: lab.up,
    down: lab.down,
    rtt: lab.rtt,
    qdisc_up: lab.qdiscUp,
    qdisc_down: lab.qdiscDown,
    flows: [...flows("up", lab.flowsUp), ...flows("down", lab.flowsDown)],
    probes,
    seed: lab.seed,
  };
  if (lab.ecn) scenario["tcp"] = { ecn: true };
  if (lab.pages) scenario["web"] = [{ name: "pages", objects: PAGE, ...at(0) }];
  if (lab.wifi) scenario["wifi"] = { scheme: lab.wifi.scheme, stations: stations.map((one) => ({ ...one })) };
  return scenario;
}
