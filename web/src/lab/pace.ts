// How far a run goes on in one frame when it runs as fast as it can.

/** Real time that the simulator may take of a frame, ms. */
const BUDGET_MS = 13;
/** Simulated time of a frame at most, so that the picture moves, s. */
export const LONGEST_S = 0.5;

/**
 * The simulated time of the next frame, s. It is judged by what the simulator itself took: drawing costs the same however
 * far a run goes on. It is never less than what 1 × would go on, so a slow processor does not come to a stop.
 */
export function nextStep(stepS: number, workerMs: number, realMs: number): number {
  const factor = Math.min(2, Math.max(0.5, BUDGET_MS / Math.max(workerMs, 0.5)));
  return Math.min(LONGEST_S, Math.max(realMs / 1000, stepS * factor));
}
