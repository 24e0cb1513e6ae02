import { startEngine } from "../engine/engine";
import { Refused, type Engine, type Frame, type Opened, type Scenario, type Session } from "../engine/protocol";
import { History } from "./history";
import type { Drag } from "./model/moment";
import { LONGEST_S, nextStep } from "./pace";

// One clock for one run or two that stand side by side. Each has a worker of its own; a frame is asked for only when the
// one before has been drawn.

/** Simulated per real time; infinite is as fast as possible. */
export const SPEEDS = [0.001, 0.01, 0.1, 0.5, 1, 5, 20, Infinity];

type Running = Engine & { stop(): void };

/** One of the runs. */
export class Side {
  frame = $state.raw<Frame | undefined>();
  version = $state(0);
  /** Real time that the simulator took of the last frame, ms. */
  workerMs = 0;

  constructor(
    readonly scenario: Scenario,
    readonly opened: Opened,
    readonly session: Session,
    readonly history: History,
    private readonly engine: Running,
  ) {}

  static async open(scenario: Scenario): Promise<Side> {
    const engine = startEngine();
    try {
      const session = await engine.open(scenario);
      const flows = session.opened.normalized["flows"] as { name: string; direction: "up" | "down" }[];
      const directions = new Map(flows.map((flow) => [flow.name, flow.direction]));
      const { flows: names, stations } = session.opened;
      const history = new History(names, (name) => directions.get(name) ?? "up", stations.length);
      return new Side(scenario, session.opened, session, history, engine);
    } catch (error) {
      engine.stop();
      throw error;
    }
  }

  async advance(seconds: number): Promise<void> {
    const before = this.frame?.nowS ?? 0;
    const frame = await this.session.advance(seconds);
    const stepS = frame.nowS - before;
    this.workerMs = frame.speed > 0 ? (1000 * stepS) / frame.speed : 0;
    this.history.add(frame, stepS);
    this.frame = frame;
    this.version += 1;
  }

  close(): void {
    this.engine.stop();
  }
}

export class Player {
  sides = $state.raw<Side[]>([]);
  playing = $state(false);
  speed = $state(1);
  /** The rates that were changed by hand, in the order of time: with one, the run is no longer that of the scenario. */
  drags = $state.raw<Drag[]>([]);
  why = $state("");
  /** Simulated per real time, of the last second. */
  measured = $state(0);
  private turn = 0;
  private stepS = 0.005;
  private busy = false;
  /** Changes that wait for the frame under way. */
  private readonly wanted = new Map<"up" | "down", number>();

  get done(): boolean {
    return this.sides.length > 0 && this.sides.every((side) => (side.frame?.done ?? 0) >= 1);
  }

  /** Opens runs in place of those that there are, at their beginning. */
  async load(scenarios: Scenario[], drags: Drag[] = []): Promise<boolean> {
    const turn = ++this.turn;
    this.playing = false;
    let sides: Side[] = [];
    try {
      const opened = await Promise.allSettled(scenarios.map((scenario) => Side.open(scenario)));
      sides = opened.filter((one) => one.status === "fulfilled").map((one) => one.value);
      const failed = opened.find((one) => one.status === "rejected");
      if (failed !== undefined) throw failed.reason;
      if (turn !== this.turn) throw new Refused("");
      await Promise.all(sides.map((side) => side.advance(0)));
    } catch (error) {
      for (const side of sides) side.close();
      if (turn === this.turn) this.why = error instanceof Error ? error.message : String(error);
      return false;
    }
    for (const side of this.sides) side.close();
    [this.sides, this.why, this.drags, this.measured] = [sides, "", drags, 0];
    return true;
  }

  /** Lets them run until they are paused or over. */
  async play(): Promise<void> {
    if (this.playing || this.done) return;
    this.playing = true;
    const turn = this.turn;
    let last = performance.now();
    let [windowMs, windowS] = [0, 0];
    while (this.playing && turn === this.turn && !this.done) {
      const now = await nextFrame();
      const realMs = Math.min(now - last, 100);
      last = now;
      const seconds = Number.isFinite(this.speed) ? Math.min((this.speed * realMs) / 1000, LONGEST_S) : this.stepS;
      if (!(await this.advance(seconds))) return;
      const workerMs = Math.max(...this.sides.map((side) => side.workerMs));
      if (!Number.isFinite(this.speed)) this.stepS = nextStep(this.stepS, workerMs, realMs);
      [windowMs, windowS] = [windowMs + realMs, windowS + seconds];
      if (windowMs > 500) [this.measured, windowMs, windowS] = [(1000 * windowS) / windowMs, 0, 0];
    }
    if (turn === this.turn) this.playing = false;
  }

  pause(): void {
    this.playing = false;
  }

  async step(seconds: number): Promise<void> {
    this.pause();
    await this.advance(seconds);
  }

  /** Goes on to a time as fast as it can, in steps that the charts can follow. */
  async skip(toS: number): Promise<void> {
    const turn = this.turn;
    while (turn === this.turn && !this.done && toS - this.nowS > 1e-9) {
      if (!(await this.advance(Math.min(LONGEST_S, toS - this.nowS)))) return;
    }
  }

  /** Changes the rate of a bottleneck of all runs from now on. What was to come of changes is forgotten. */
  async setRate(direction: "up" | "down", bitsPerSecond: number): Promise<void> {
    // The frame that is under way comes first, so that the change is at the time that is written down.
    this.wanted.set(direction, bitsPerSecond);
    if (!this.busy) await this.change();
  }

  private get nowS(): number {
    return this.sides[0]?.frame?.nowS ?? 0;
  }

  private async change(): Promise<void> {
    const atS = this.nowS;
    const wanted = [...this.wanted];
    this.wanted.clear();
    for (const [direction, bitsPerSecond] of wanted) {
      const before = this.drags.filter((drag) => drag.atS < atS || (drag.atS === atS && drag.direction !== direction));
      this.drags = [...before, { atS, direction, bitsPerSecond }];
      await Promise.all(this.sides.map((side) => side.session.setRate(direction, bitsPerSecond)));
    }
  }

  /** Goes on by so many seconds; at the times of the changes that are to come, it makes them. */
  private async advance(seconds: number): Promise<boolean> {
    this.busy = true;
    try {
      const [fromS, toS] = [this.nowS, this.nowS + seconds];
      // A change at the very beginning of the run comes before its first packet.
      const due = this.drags.filter((drag) => drag.atS <= toS && (drag.atS > fromS || (fromS === 0 && drag.atS === 0)));
      for (const { atS, direction, bitsPerSecond } of due) {
        const before = atS - this.nowS;
        if (before > 0) await Promise.all(this.sides.map((side) => side.advance(before)));
        await Promise.all(this.sides.map((side) => side.session.setRate(direction, bitsPerSecond)));
      }
      const left = toS - this.nowS;
      if (left > 0 || due.length === 0) await Promise.all(this.sides.map((side) => side.advance(Math.max(0, left))));
      await this.change();
      return true;
    } catch (error) {
      this.why = error instanceof Error ? error.message : String(error);
      this.playing = false;
      return false;
    } finally {
      this.busy = false;
    }
  }
}

function nextFrame(): Promise<number> {
  // A page in the background gets no frames; there a timer goes on.
  return new Promise((resolve) => {
    if (document.hidden) setTimeout(() => resolve(performance.now()), 100);
    else requestAnimationFrame(() => resolve(performance.now()));
  });
}
