// The page's side of the engine: it asks the worker, and gives the answers back as promises.

import type { Answer, Request, OpenedRun, Question, Reply } from "./messages";
import { Refused, type Catalogue, type Engine, type Frame, type Scenario, type Session } from "./protocol";

interface Waiting {
  resolve: (answer: Answer) => void;
  reject: (error: Error) => void;
  progress: ((done: number) => void) | undefined;
}

/** The text of a scenario. A number that JavaScript cannot tell from its neighbours would be another scenario. */
export function textOf(scenario: Scenario): string {
  return JSON.stringify(scenario, (key, value: unknown) => {
    if (typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value)) {
      throw new Refused(`${key} is ${value}, but in a browser a whole number must be at most 9007199254740991`);
    }
    return value;
  });
}

/** Starts a worker with a simulator of its own. It ends with the page, or with `stop`. */
export function startEngine(): Engine & { stop(): void } {
  const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module", name: "sojourn" });
  const waiting = new Map<number, Waiting>();
  let sent = 0;
  let broken: Error | null = null;

  function fail(error: Error): void {
    broken = error;
    for (const one of waiting.values()) one.reject(error);
    waiting.clear();
  }

  worker.addEventListener("error", (event) => fail(new Error(`the simulator's worker failed: ${event.message}`)));
  worker.addEventListener("message", (event: MessageEvent<Reply>) => {
    const reply = event.data;
    const one = waiting.get(reply.id);
    if (one === undefined) return;
    if ("progress" in reply) {
      one.progress?.(reply.progress);
      return;
    }
    waiting.delete(reply.id);
    if ("answer" in reply) one.resolve(reply.answer);
    else if ("refused" in reply) one.reject(new Refused(reply.refused));
    else one.reject(new Error(reply.failed));
  });

  async function ask<T extends Answer>(question: Question, progress?: (done: number) => void): Promise<T> {
    if (broken !== null) throw broken;
    const id = sent++;
    const answer = await new Promise<Answer>((resolve, reject) => {
      waiting.set(id, { resolve, reject, progress });
      worker.postMessage({ id, question } satisfies Request);
    });
    return answer as T;
  }

  return {
    schema: async () => JSON.parse(await ask<string>({ kind: "schema" })) as unknown,
    catalogue: async () => JSON.parse(await ask<string>({ kind: "catalogue" })) as Catalogue,
    normalize: async (scenario) =>
      JSON.parse(await ask<string>({ kind: "normalize", scenario: textOf(scenario) })) as Scenario,
    record: async (scenario, progress) => ask<string>({ kind: "record", scenario: textOf(scenario) }, progress),
    open: async (scenario): Promise<Session> => {
      const { run, opened } = await ask<OpenedRun>({ kind: "open", scenario: textOf(scenario) });
      return {
        opened,
        advance: (seconds) => ask<Frame>({ kind: "advance", run, seconds }),
        setRate: async (direction, bitsPerSecond) => {
          await ask({ kind: "setRate", run, direction, bitsPerSecond });
        },
        record: () => ask<string>({ kind: "finish", run }),
        close: async () => {
          await ask({ kind: "close", run });
        },
      };
    },
    stop: () => {
      worker.terminate();
      fail(new Error("the engine was stopped"));
    },
  };
}
