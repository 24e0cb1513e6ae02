import type { Scenario } from "../engine/protocol";

// What the figures run: a scenario for each setting of a figure's control. They are what `sojourn run FILE` takes, so the
// numbers of a figure's sentence are those of the command line.

export const FIGURES = ["call", "house", "buffer", "codel", "fair", "wifi", "l4s"] as const;
export type FigureName = (typeof FIGURES)[number];

/** The two routers of a figure that has a switch. */
export type Router = "ordinary" | "managed";

/** What an ordinary router does: it keeps what comes, in order of arrival, until a thousand packets stand. */
export const ORDINARY = "pfifo limit 1000";
export const MANAGED = "fq_codel";

const upload = (name: string): Scenario => ({ name, direction: "up", congestion_control: "cubic" });
const PING: Scenario = { name: "game", kind: "icmp", interval: "100ms" };
const CALL: Scenario = { name: "call", kind: "voip", direction: "up" };

/** A line at home. */
const HOME: Scenario = {
  duration: "30s",
  up: "10mbit",
  down: "100mbit",
  rtt: "30ms",
  qdisc_up: MANAGED,
  qdisc_down: MANAGED,
};

export function callScene(router: Router): Scenario {
  return {
    experiment: "story-call",
    ...HOME,
    qdisc_up: router === "ordinary" ? ORDINARY : MANAGED,
    flows: [upload("upload")],
    probes: [PING, CALL],
    seed: 1,
  };
}

/** What goes on at home, and the line. */
export interface House {
  downMbit: number;
  upMbit: number;
  rttMs: number;
  upload: boolean;
  film: boolean;
}

export const HOUSE: House = { downMbit: 50, upMbit: 10, rttMs: 30, upload: true, film: true };

/** The bounds of the fields of a house: least and most. */
export const HOUSE_BOUNDS = { downMbit: [1, 1000], upMbit: [0.5, 1000], rttMs: [2, 300] } as const;

/** A ping and a call are measured whether or not somebody plays or calls: they say what it would be like. */
export function houseScene(house: House, router: Router): Scenario {
  const qdisc = router === "ordinary" ? ORDINARY : MANAGED;
  const flows: Scenario[] = [];
  if (house.upload) flows.push(upload("upload"));
  // A film comes in pieces over several connections, each as fast as it can.
  if (house.film) {
    for (const name of ["film_1", "film_2"]) flows.push({ name, direction: "down", congestion_control: "cubic" });
  }
  return {
    experiment: "story-house",
    duration: "20s",
    up: `${house.upMbit}mbit`,
    down: `${house.downMbit}mbit`,
    rtt: `${house.rttMs}ms`,
    qdisc_up: qdisc,
    qdisc_down: qdisc,
    flows,
    probes: [PING, { ...CALL, name: "call-up" }, { ...CALL, name: "call-down", direction: "down" }],
    seed: 1,
  };
}

/** The buffers that the slider has, packets. */
export const BUFFERS = [5, 10, 20, 35, 50, 75, 100, 150, 200, 300, 500, 700, 1000, 1400, 2000];

export function bufferScene(packets: number): Scenario {
  return {
    experiment: "story-buffer",
    ...HOME,
    rtt: "100ms",
    qdisc_up: `pfifo limit ${packets}`,
    flows: [upload("upload")],
    probes: [PING],
    seed: 1,
  };
}

/** The targets that the slider has, ms. */
export const TARGETS = [1, 2, 5, 10, 20, 50, 100];

export function codelScene(targetMs: number): Scenario {
  return {
    experiment: "story-codel",
    ...HOME,
    qdisc_up: `codel target ${targetMs}ms interval 100ms`,
    flows: [upload("upload")],
    probes: [PING],
    seed: 1,
  };
}

export const MOST_UPLOADS = 32;

export function fairScene(uploads: number): Scenario {
  return {
    experiment: "story-fair",
    ...HOME,
    flows: Array.from({ length: uploads }, (_, i) => upload(`upload-${i + 1}`)),
    probes: [PING, CALL],
    seed: 1,
  };
}

export type Scheme = "fq_codel" | "airtime";

const STATIONS: Scenario[] = [
  { name: "desk", rate: "ht mcs 15 20mhz sgi" },
  { name: "sofa", rate: "ht mcs 15 20mhz sgi" },
  { name: "garden", rate: "ht mcs 0 20mhz" },
];

export function wifiScene(scheme: Scheme): Scenario {
  return {
    experiment: "story-wifi",
    duration: "20s",
    up: "100mbit",
    down: "100mbit",
    rtt: "20ms",
    flows: STATIONS.map(({ name }) => ({
      name: `to-${String(name)}`,
      direction: "down",
      congestion_control: "cubic",
      station: name,
    })),
    wifi: { scheme, stations: STATIONS },
    seed: 1,
  };
}

export function l4sScene(prague: boolean): Scenario {
  return {
    experiment: "story-l4s",
    duration: "20s",
    up: "10mbit",
    down: "40mbit",
    rtt: "20ms",
    qdisc_down: "dualpi2",
    flows: [
      { name: "stream", direction: "down", congestion_control: prague ? "prague" : "cubic" },
      { name: "download", direction: "down", congestion_control: "cubic" },
    ],
    seed: 1,
  };
}
