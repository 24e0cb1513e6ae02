// What a figure's sentence says of a run: numbers of its record, found where `sojourn run --json` puts them.

interface Stream {
  name: string;
  sent: number;
  lost: number;
  delay_ms?: { mean: number } | null;
  codec?: string | null;
  ipdv_ms?: number | null;
}

/** The parts of a record that the figures read. */
export interface RecordParts {
  summary: {
    goodput_up_mbit: number;
    goodput_down_mbit: number;
    induced_latency_ms: number | null;
    rtt_ms: { mean: number; median: number; max: number };
  };
  flows: { name: string; goodput_mbit: number; sojourn_ms: { mean: number } }[];
  probes: Stream[];
  bottleneck: Record<"up" | "down", { marks: number; drops: { congestion: number }; sojourn_ms: { mean: number } }>;
  wifi?: { stations: { name: string; airtime_share: number | null }[] };
}

export const parse = (record: string): RecordParts => JSON.parse(record) as RecordParts;

/** Grades by the latency that load adds, ms, as tests of bufferbloat on the web give them. */
const GRADES: [string, number][] = [
  ["A+", 5],
  ["A", 30],
  ["B", 60],
  ["C", 200],
  ["D", 400],
];

export function grade(addedMs: number): string {
  return GRADES.find(([, below]) => addedMs < below)?.[0] ?? "F";
}

/**
 * The quality of a call, 1 to 4.5: the common simplification of ITU-T G.107 by Cole and Rosenbluth, for G.711. The delay
 * has twice the mean variation added, which stands for a playout buffer. `sojourn.stats.mos` has the same function.
 */
export function mos(stream: Stream): number {
  if (stream.lost === stream.sent || !stream.delay_ms) return 1;
  const delay = stream.delay_ms.mean + 2 * (stream.ipdv_ms ?? 0);
  const ofDelay = 0.024 * delay + (delay > 177.3 ? 0.11 * (delay - 177.3) : 0);
  const ofLoss = 30 * Math.log(1 + (15 * stream.lost) / stream.sent);
  const r = 94.2 - ofDelay - ofLoss;
  if (r <= 0) return 1;
  return Math.min(4.5, Math.max(1, 1 + 0.035 * r + r * (r - 60) * (100 - r) * 7e-6));
}

/** The worse of the two directions of a call. */
export function mosOfCall(record: RecordParts): number {
  const streams = record.probes.filter((probe) => probe.codec);
  return Math.min(...streams.map(mos));
}
