import type { Engine, Frame, Scenario, Session } from "../engine/protocol";

// The runs of one figure: one, or two that go on together. They begin anew when they are over.

export class Live {
  sessions: Session[] = [];
  frames = $state.raw<Frame[]>([]);
  why = $state("");
  nowS = 0;
  private turn = 0;
  private busy = false;
  private scenarios: Scenario[] = [];

  constructor(
    private readonly engine: Engine,
    private readonly fromS = 0,
    /** How long it runs before it begins anew, s. */
    private readonly lengthS = 300,
  ) {}

  /** Opens scenarios in place of those that run, and goes on to `atS`: where the ones before were, if it is left out. */
  async load(scenarios: Scenario[], atS = Math.max(this.nowS, this.fromS)): Promise<boolean> {
    const turn = ++this.turn;
    try {
      const long = scenarios.map((scenario) => ({ ...scenario, duration: `${this.lengthS}s` }));
      const sessions = await Promise.all(long.map((scenario) => this.engine.open(scenario)));
      const frames = await Promise.all(sessions.map((session) => session.advance(atS)));
      const old = turn === this.turn ? this.sessions : sessions;
      for (const session of old) void session.close();
      if (turn !== this.turn) return false;
      [this.sessions, this.frames, this.nowS, this.why, this.scenarios] = [sessions, frames, atS, "", scenarios];
      return true;
    } catch (error) {
      if (turn === this.turn) this.why = error instanceof Error ? error.message : String(error);
      return false;
    }
  }

  /** Goes on by so much simulated time; answers whether there are new frames. Asked too early it does nothing. */
  async tick(seconds: number): Promise<boolean> {
    if (this.busy || this.sessions.length === 0 || seconds <= 0) return false;
    this.busy = true;
    const { turn, sessions } = this;
    try {
      const frames = await Promise.all(sessions.map((session) => session.advance(seconds)));
      if (turn !== this.turn) return false;
      this.frames = frames;
      this.nowS = frames[0]?.nowS ?? 0;
      if (frames.some((frame) => frame.done >= 1)) await this.load(this.scenarios, this.fromS);
      return true;
    } catch (error) {
      if (turn === this.turn) this.why = error instanceof Error ? error.message : String(error);
      return false;
    } finally {
      this.busy = false;
    }
  }

  close(): void {
    this.turn += 1;
    for (const session of this.sessions) void session.close();
    this.sessions = [];
  }
}
