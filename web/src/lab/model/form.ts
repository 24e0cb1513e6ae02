import type { Scenario } from "../../engine/protocol";
import { FIRST, toScenario, type Lab } from "./lab";

// From a scenario back to the form, where the form can express it.

interface Listed {
  direction?: unknown;
  congestion_control?: unknown;
  kind?: unknown;
}

/** The form's value that means exactly this scenario; `undefined` if there is none. */
export function fromScenario(scenario: Scenario): Lab | undefined {
  const flows = listed(scenario["flows"]);
  const controls = (direction: string): string[] =>
    flows.filter((flow) => flow.direction === direction).map((flow) => String(flow.congestion_control));
  const wifi = scenario["wifi"] as Lab["wifi"] | undefined;
  const lab: Lab = {
    up: text(scenario["up"], FIRST.up),
    down: text(scenario["down"], FIRST.down),
    rtt: text(scenario["rtt"], FIRST.rtt),
    qdiscUp: text(scenario["qdisc_up"], FIRST.qdiscUp),
    qdiscDown: text(scenario["qdisc_down"], FIRST.qdiscDown),
    flowsUp: controls("up"),
    flowsDown: controls("down"),
    voice: listed(scenario["probes"]).some((probe) => probe.kind === "voip"),
    pages: scenario["web"] !== undefined,
    ...(wifi === undefined ? {} : { wifi }),
    ecn: scenario["tcp"] !== undefined,
    duration: text(scenario["duration"], FIRST.duration),
    seed: Number(scenario["seed"] ?? FIRST.seed),
  };
  try {
    return same(toScenario(lab), scenario) ? lab : undefined;
  } catch {
    return undefined; // a table of the scenario has not the shape that the form gives it
  }
}

function text(value: unknown, otherwise: string): string {
  return typeof value === "string" ? value : otherwise;
}

function listed(value: unknown): Listed[] {
  return Array.isArray(value) ? value.filter((one): one is Listed => typeof one === "object" && one !== null) : [];
}

function same(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) || Array.isArray(other)) {
    return (
      Array.isArray(one) &&
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((x, i) => same(x, other[i]))
    );
  }
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return one === other;
  const [left, right] = [one as Record<string, unknown>, other as Record<string, unknown>];
  const keys = Object.keys(left);
  return keys.length === Object.keys(right).length && keys.every((key) => same(left[key], right[key]));
}
