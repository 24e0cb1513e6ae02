import type { Engine, Scenario } from "../engine/protocol";
import { parse, type RecordParts } from "./facts";

// The records of a figure's setting. Those that were made once are kept.

export class Facts {
  records = $state.raw<RecordParts[]>([]);
  why = $state("");
  private turn = 0;
  private readonly kept = new Map<string, Promise<RecordParts>>();

  constructor(private readonly engine: Engine) {}

  record(scenario: Scenario): Promise<RecordParts> {
    const key = JSON.stringify(scenario);
    const kept = this.kept.get(key) ?? this.engine.record(scenario).then(parse);
    this.kept.set(key, kept);
    return kept;
  }

  /** Makes the records of these scenarios; until they are there, there are none. */
  async ask(scenarios: Scenario[]): Promise<void> {
    const turn = ++this.turn;
    this.records = [];
    try {
      const records = await Promise.all(scenarios.map((scenario) => this.record(scenario)));
      if (turn === this.turn) [this.records, this.why] = [records, ""];
    } catch (error) {
      if (turn === this.turn) this.why = error instanceof Error ? error.message : String(error);
    }
  }
}
