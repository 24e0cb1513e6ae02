import { startEngine } from "../engine/engine";
import type { Engine } from "../engine/protocol";

/** A simulator for what moves, and from the first record on another that makes records, so that nothing has to wait. */
export function engines(): Engine {
  const live = startEngine();
  let recorder: Engine | undefined;
  return { ...live, record: (scenario, progress) => (recorder ??= startEngine()).record(scenario, progress) };
}
