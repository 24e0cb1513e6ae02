// What the page and the worker say to each other. The worker holds the simulator, compiled to WebAssembly; it is the only
// place that knows it. Times are nanoseconds (integers) unless a name says otherwise.

/** A scenario as `sojourn run FILE` takes it (docs/scenario.md): keys of the JSON or TOML. */
export type Scenario = Record<string, unknown>;

/** A sentence of the simulator about bad input: it names the field, the value and the rule. */
export class Refused extends Error {}

/** Simulated time between two samples, s. */
export const SAMPLE_S = 0.02;

/** What befell a packet at a queue. */
export const Passage = { arrival: 0, departure: 1, marked: 2, drop: 3 } as const;

/** What stands in one queue now. */
export interface QueueView {
  /** For each packet, in the order of arrival: the number of its flow in `Opened.names`. */
  flows: Uint16Array;
  /** For each packet, its size on the wire, bytes. */
  sizes: Uint16Array;
  /** For each packet how long it has stood, ms. */
  stood: Float32Array;
  /** What came and left since the last frame, four numbers each: time (s), flow, a `Passage`, and how long it had stood (ms). */
  passages: Float64Array;
  /** Packets and bytes, as the discipline counts them. `packets` can be more than the length of `flows` (a cap). */
  packets: number;
  bytes: number;
  /** Since the beginning of the run. */
  departed: number;
  dropped: number;
  marked: number;
  /** Drops by flow since the beginning, by the numbers of `Opened.names`. */
  droppedByFlow: Uint32Array;
  /** The sojourn time of the last packet that left, ms; NaN before the first. */
  sojournMs: number;
  /** What the discipline says of its state, as `tc -s` names it: CoDel's `count`, `dropping`; PIE's `prob`, `delay`. */
  state: Record<string, number>;
  /** The rate of the link now, bit/s. */
  rate: number;
}

/** The state of a run at a moment. */
export interface Frame {
  /** Since the beginning of the measured window, s. */
  nowS: number;
  /** The share of the run that is done, 0 to 1. */
  done: number;
  up: QueueView;
  down: QueueView;
  /** By TCP flow, in the order of `Opened.flows`: congestion window in segments, goodput since the last frame in Mbit/s. */
  cwnd: Float64Array;
  goodput: Float64Array;
  /** Round-trip times that probes measured since the last frame: pairs of time (s) and RTT (ms); NaN is a loss. */
  pings: Float64Array;
  /** How long the first ping that has no answer yet has been under way, ms; NaN if none is. */
  waitsMs: number;
  /** Packets of voice calls since the last frame, three numbers each: flow, time of sending (s), delay (ms); NaN is a loss. */
  voice: Float64Array;
  /** Page loads that ended since the last frame: pairs of time (s) and how long they took (s). */
  pages: Float64Array;
  /** Airtime shares by station, in a Wi-Fi scenario; else empty. */
  airtime: Float64Array;
  /** What was on the air since the last frame, three numbers each: when it was over (s), station, how long it took (s). */
  air: Float64Array;
  /** What was sampled since the last frame at multiples of `SAMPLE_S`, in rows: time (s), packets queued up and down, then the
   * congestion window (segments) and the delivered bytes of each TCP flow. */
  samples: Float64Array;
  /** Simulated time per real time since the last frame, while it runs at full speed. */
  speed: number;
}

/** What a run is, said once. */
export interface Opened {
  /** Names of what sends packets: flows, probes, web clients, downloads. */
  names: string[];
  /** Names of the TCP flows. */
  flows: string[];
  stations: string[];
  /** The scenario with every default written out. */
  normalized: Scenario;
  durationS: number;
}

/** A run under way in the worker. Frames come only as answers, so a slow page is not flooded. */
export interface Session {
  readonly opened: Opened;
  /** Advances by this much simulated time, and answers the state after it. */
  advance(seconds: number): Promise<Frame>;
  /** Changes the rate of a bottleneck from now on; the run is no longer that of the scenario. */
  setRate(direction: "up" | "down", bitsPerSecond: number): Promise<void>;
  /** The record, byte for byte that of `sojourn run FILE --json`, once the run is over (`done` is 1). */
  record(): Promise<string>;
  close(): Promise<void>;
}

/** The simulator in its worker. */
export interface Engine {
  /** Every key of a scenario, as a JSON Schema. */
  schema(): Promise<unknown>;
  /** Disciplines, presets, controls, as `sojourn list` names them. */
  catalogue(): Promise<Catalogue>;
  /** Every default written out; `Refused` if it is not valid. */
  normalize(scenario: Scenario): Promise<Scenario>;
  /** A whole run at full speed: its record, byte for byte that of the command line. */
  record(scenario: Scenario, progress?: (done: number) => void): Promise<string>;
  open(scenario: Scenario): Promise<Session>;
}

export interface Catalogue {
  /** Kinds of disciplines with the words that `tc` takes for each. */
  disciplines: { name: string; about: string; words: { name: string; about: string; unit: string }[] }[];
  presets: { name: string; about: string }[];
  controls: string[];
}
