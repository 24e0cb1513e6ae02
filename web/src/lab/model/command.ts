import type { Scenario } from "../../engine/protocol";
import { toToml } from "./toml";

// A scenario as what is typed: the file and the line that runs it, and the lines of `tc` for a router.

export interface Command {
  file: string;
  toml: string;
  line: string;
}

export function toCommand(scenario: Scenario): Command {
  return { file: "lab.toml", toml: toToml(scenario), line: "sojourn run lab.toml" };
}

/** Lines of `tc` that shape one interface of a Linux router to a rate, with the discipline below the shaper. */
export function toTc(device: string, rate: string, qdisc: string): string[] {
  const rule = "may have letters, digits, '.', '_' and '-' only";
  if (!/^[A-Za-z0-9._-]{1,15}$/.test(device)) throw new Error(`device is "${device}", but it ${rule}`);
  if (!/^[0-9.]+[a-z]+$/i.test(rate))
    throw new Error(`rate is "${rate}", but it is a number and a unit, such as 10mbit`);
  if (!/^[a-z][a-z0-9_]*( [A-Za-z0-9._%/-]+)*$/.test(qdisc)) {
    throw new Error(`the discipline is "${qdisc}", but tc takes words of letters, digits, '.', '_', '%', '/' and '-'`);
  }
  return [
    `tc qdisc replace dev ${device} root handle 1: htb default 10`,
    `tc class replace dev ${device} parent 1: classid 1:10 htb rate ${rate} ceil ${rate}`,
    `tc qdisc replace dev ${device} parent 1:10 handle 10: ${qdisc}`,
  ];
}
