// The worker: it holds the simulator, compiled to WebAssembly, and answers one question after the other.

import { buffersOf, Frames } from "./frame";
import type { Answer, Request, Question, Reply } from "./messages";
import init, { catalogue, Live, normalize, schema } from "./pkg/sojourn";
import type { Opened } from "./protocol";

/** Simulated time between two reports of progress of a whole run, s. */
const STRIDE_S = 0.5;

interface Run {
  live: Live;
  frames: Frames;
  realMs: number;
}

const memory = init().then((exports) => exports.memory);
const runs = new Map<number, Run>();
let opened = 0;
let dead: string | null = null;

function say(reply: Reply, handOver: ArrayBuffer[] = []): void {
  postMessage(reply, { transfer: handOver });
}

function runOf(number: number): Run {
  const run = runs.get(number);
  if (run === undefined) throw new Error(`session ${number} is closed`);
  return run;
}

/** Runs without pause: messages that come meanwhile wait. */
async function record(id: number, scenario: string): Promise<string> {
  const begun = performance.now();
  const live = new Live(scenario, false);
  try {
    for (let done = 0; done < 1;) {
      done = live.advance(STRIDE_S);
      say({ id, progress: done });
    }
    return live.record((performance.now() - begun) / 1000, (await memory).buffer.byteLength / 1e6);
  } finally {
    live.free();
  }
}

async function answer(id: number, question: Question): Promise<Answer> {
  switch (question.kind) {
    case "schema":
      return schema();
    case "catalogue":
      return catalogue();
    case "normalize":
      return normalize(question.scenario);
    case "record":
      return record(id, question.scenario);
    case "open": {
      const live = new Live(question.scenario, true);
      const run = opened++;
      runs.set(run, { live, frames: new Frames(), realMs: 0 });
      return { run, opened: JSON.parse(live.opened()) as Opened };
    }
    case "advance": {
      const run = runOf(question.run);
      const begun = performance.now();
      run.frames.advance(run.live, question.seconds);
      const took = performance.now() - begun;
      run.realMs += took;
      return run.frames.next(run.live, took / 1000);
    }
    case "setRate":
      runOf(question.run).live.setRate(question.direction, question.bitsPerSecond);
      return null;
    case "finish": {
      const run = runOf(question.run);
      return run.live.record(run.realMs / 1000, (await memory).buffer.byteLength / 1e6);
    }
    case "close":
      runs.get(question.run)?.live.free();
      runs.delete(question.run);
      return null;
  }
}

async function handle({ id, question }: Request): Promise<void> {
  try {
    await memory;
    if (dead !== null) throw new Error(dead);
    const found = await answer(id, question);
    say({ id, answer: found }, found !== null && typeof found === "object" && "up" in found ? buffersOf(found) : []);
  } catch (thrown) {
    // The simulator refuses with a sentence. Anything else is a fault, and after a trap its memory is not to be trusted.
    if (typeof thrown === "string") {
      say({ id, refused: thrown });
      return;
    }
    const failed = thrown instanceof Error ? thrown.message : String(thrown);
    if (thrown instanceof WebAssembly.RuntimeError) dead = `the simulator stopped: ${failed}`;
    say({ id, failed: dead ?? failed });
  }
}

let last: Promise<void> = Promise.resolve();
addEventListener("message", (event: MessageEvent<Request>) => {
  last = last.then(() => handle(event.data));
});
