import type { Scenario } from "../../engine/protocol";

// The run that stands beside another: the same scenario with another discipline, or in a cell another scheme.

export const SCHEMES = ["fifo", "fq_codel", "fq_mac", "airtime"] as const;

/** The scenario with `beside` in place of its disciplines, or of the access point's scheme if it has a cell. */
export function besideOf(scenario: Scenario, beside: string): Scenario {
  const wifi = scenario["wifi"];
  if (typeof wifi === "object" && wifi !== null && SCHEMES.some((scheme) => scheme === beside)) {
    return { ...scenario, wifi: { ...wifi, scheme: beside } };
  }
  return { ...scenario, qdisc_up: beside, qdisc_down: beside };
}

/** What a run is called where two stand side by side. */
export function titleOf(scenario: Scenario): string {
  // A network has disciplines of its own, at its links.
  if (scenario["topology"] !== undefined) return String(scenario["experiment"] ?? "A network");
  const [up, down] = ["qdisc_up", "qdisc_down"].map((key) => String(scenario[key] ?? "fq_codel")) as [string, string];
  const disciplines = up === down ? up : `${up} (up), ${down} (down)`;
  const wifi = scenario["wifi"] as { scheme?: unknown } | undefined | null;
  return typeof wifi === "object" && wifi !== null
    ? `Wi-Fi, ${String(wifi.scheme ?? "airtime")}; ${disciplines}`
    : disciplines;
}
