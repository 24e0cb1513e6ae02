// Everything that the page asks the server; nothing else here fetches. What it answers: python/sojourn/view/__init__.py.
import type { Sent } from "./data/columns";

export interface Folder {
  path: string;
  name: string;
  kind: string;
  title: string;
  command: string;
}

export interface About {
  /** Whether the laboratory is there. */
  lab: boolean;
  title: string;
  version: string;
  folders: Folder[];
}

export interface Broken {
  folder: number;
  id: string;
  why: string;
}

export interface Runs {
  rows: number;
  columns: Sent[];
  broken: Broken[];
}

export interface Series {
  metric: string;
  name: string;
  direction: string | null;
  t: number[];
  v: (number | null)[];
  of: number;
}

export interface Distribution {
  value: number[];
  fraction: number[];
  count: number;
}

export interface Summary {
  experiment: string;
  link: string;
  qdisc: string;
  metric: string;
  n: number;
  mean: number | null;
  median: number | null;
  low: number | null;
  high: number | null;
}

export interface Difference {
  experiment: string;
  link: string;
  metric: string;
  a: string;
  b: string;
  n: number;
  /** That of `b`, less that of `a`. */
  difference: number | null;
  low: number | null;
  high: number | null;
  verdict: string;
}

export interface Comparison {
  summary: Summary[];
  differences: Difference[];
  left_out: { experiment: string; why: string }[];
}

/** What a map has come to: a row for each cell. */
export interface MapCells {
  columns: string[];
  rows: (string | number | null)[][];
}

export interface Claim {
  id: string;
  section: string;
  says: string;
  verdict: string;
  value: number | null;
  low: number | null;
  high: number | null;
  unit: string;
  reason: string;
  by_construction: boolean;
  /** How many runs it was judged by. */
  runs: number;
  worlds: Record<string, string>;
}

export interface Claims {
  source: number;
  folder: string;
  title: string;
  claims: Claim[];
  error: string | null;
}

export interface Progress {
  source: number;
  folder: string;
  kind: string;
  runs: number;
  planned: number | null;
  writing: boolean;
  newest_s: number | null;
}

/** The server's sentence about what went wrong. */
export class Failed extends Error {}

const kept = new Map<string, { tag: string; value: unknown }>();

/** Asks once more only for what has changed. */
async function get<Value>(path: string): Promise<Value> {
  const before = kept.get(path);
  let answer: Response;
  try {
    answer = await fetch(path, {
      headers: before === undefined ? {} : { "If-None-Match": before.tag },
      cache: "no-store",
    });
  } catch {
    throw new Failed("The server does not answer: it may have been ended.");
  }
  if (answer.status === 304 && before !== undefined) return before.value as Value;
  if (!answer.ok) throw new Failed(await sentence(answer));
  const value = (await answer.json()) as Value;
  const tag = answer.headers.get("ETag");
  if (tag !== null && REPEATED.test(path)) kept.set(path, { tag, value });
  return value;
}

const REPEATED = /^api\/(runs|comparison\/\d+|map\/\d+|claims|progress)$/;

async function sentence(answer: Response): Promise<string> {
  const text = await answer.text();
  try {
    const found = JSON.parse(text) as { error?: unknown };
    if (typeof found.error === "string") return found.error;
  } catch {
    // it is no JSON, so the text is the sentence
  }
  return text.trim().slice(0, 400) || `The server answered ${answer.status}.`;
}

const runPath = (kind: string, source: number, id: string): string => `api/${kind}/${source}/${encodeURIComponent(id)}`;

export const about = (): Promise<About> => get("api/about");
export const runs = (): Promise<Runs> => get("api/runs");
export const claims = (): Promise<{ folders: Claims[] }> => get("api/claims");
export const progress = (): Promise<{ folders: Progress[] }> => get("api/progress");
export const comparison = (source: number, beside: number): Promise<Comparison> =>
  get(`api/comparison/${source}${beside < 0 || beside === source ? "" : `/${beside}`}`);
export const map = (source: number): Promise<MapCells> => get(`api/map/${source}`);
export const record = (source: number, id: string): Promise<Record<string, unknown>> => get(runPath("run", source, id));

export const cdf = (source: number, id: string, metric: string): Promise<Distribution> =>
  get(`${runPath("cdf", source, id)}?${new URLSearchParams({ metric }).toString()}`);

export async function series(
  source: number,
  id: string,
  query: { metric?: string; combined?: boolean; points?: number; from?: number; to?: number },
): Promise<Series[]> {
  const words = new URLSearchParams();
  if (query.metric !== undefined) words.set("metric", query.metric);
  if (query.combined === true) words.set("combined", "1");
  words.set("points", String(query.points ?? 2000));
  if (query.from !== undefined) words.set("from", String(query.from));
  if (query.to !== undefined) words.set("to", String(query.to));
  const found = await get<{ series: Series[] }>(`${runPath("series", source, id)}?${words.toString()}`);
  return found.series;
}
