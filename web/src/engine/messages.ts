// The messages between the page's side of the engine (engine.ts) and the worker.

import type { Frame, Opened } from "./protocol";

/** What the page asks for. `run` is the number of a session. */
export type Question =
  | { kind: "schema" | "catalogue" }
  | { kind: "normalize" | "record"; scenario: string }
  | { kind: "open"; scenario: string }
  | { kind: "advance"; run: number; seconds: number }
  | { kind: "setRate"; run: number; direction: "up" | "down"; bitsPerSecond: number }
  | { kind: "finish" | "close"; run: number };

export interface Request {
  id: number;
  question: Question;
}

/** A session that was opened. */
export interface OpenedRun {
  run: number;
  opened: Opened;
}

export type Answer = string | Frame | OpenedRun | null;

/** What the worker says. A refusal is a sentence for the user; a failure is a fault of ours. */
export type Reply =
  | { id: number; answer: Answer }
  | { id: number; progress: number }
  | { id: number; refused: string }
  | { id: number; failed: string };
