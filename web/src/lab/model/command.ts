import type { Scenario } from "../../engine/protocol";
import { fromScenario } from "./form";
import { isBulk } from "./lab";
import { toToml } from "./toml";

// A scenario as what is typed: the file and the line that runs it, and the lines of `tc` for a router.

export interface Command {
  file: string;
  toml: string;
  /** Runs the file. */
  line: string;
  /** Runs the same without a file, where the scenario is a built-in experiment. */
  builtin?: string;
}

export function toCommand(scenario: Scenario): Command {
  const builtin = toBuiltin(scenario);
  const file = "lab.toml";
  return { file, toml: toToml(scenario), line: `sojourn run ${file}`, ...(builtin === undefined ? {} : { builtin }) };
}

function toBuiltin(scenario: Scenario): string | undefined {
  const lab = fromScenario(scenario);
  if (lab === undefined || !isBulk(lab)) return undefined;
  const control = lab.flowsUp[0] ?? lab.flowsDown[0] ?? "";
  const options: Record<string, string> = {
    up: lab.up,
    down: lab.down,
    rtt: lab.rtt,
    "flows-up": String(lab.flowsUp.length),
    "flows-down": String(lab.flowsDown.length),
    cc: control,
    ...(lab.qdiscUp === lab.qdiscDown
      ? { qdisc: lab.qdiscUp }
      : { "qdisc-up": lab.qdiscUp, "qdisc-down": lab.qdiscDown }),
    duration: lab.duration,
    seed: String(lab.seed),
  };
  return ["sojourn run bulk", ...Object.entries(options).map(([name, value]) => `--${name} ${quoted(value)}`)].join(
    " ",
  );
}

/** A word as a POSIX shell reads it back. */
export function quoted(word: string): string {
  return /^[A-Za-z0-9._:+%/-]+$/.test(word) && !word.startsWith("-") ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Lines of `tc` that shape what leaves an interface of a Linux router to a rate, and give it a discipline. */
export function toTc(device: string, rate: string, qdisc: string): string[] {
  const rule = "may have letters, digits, '.', '_' and '-' only";
  if (!/^[A-Za-z0-9._-]{1,15}$/.test(device)) throw new Error(`device is "${device}", but it ${rule}`);
  if (!/^[0-9.]+[a-z]+$/i.test(rate))
    throw new Error(`rate is "${rate}", but it is a number and a unit, such as 10mbit`);
  if (!/^[a-z][a-z0-9_]*( [A-Za-z0-9._%/-]+)*$/.test(qdisc)) {
    throw new Error(`the discipline is "${qdisc}", but tc takes words of letters, digits, '.', '_', '%', '/' and '-'`);
  }
  // HTB cannot be replaced by itself, so what is there goes first, if anything is.
  const clear = `tc qdisc del dev ${device} root 2>/dev/null || true`;
  const [kind, ...words] = qdisc.split(" ");
  if (kind === "cake") {
    // CAKE has a shaper of its own, which takes the place of HTB.
    const own = words.includes("bandwidth") || words.includes("unlimited") ? [] : ["bandwidth", rate];
    return [clear, ["tc qdisc replace dev", device, "root handle 1: cake", ...own, ...words].join(" ")];
  }
  return [
    clear,
    `tc qdisc replace dev ${device} root handle 1: htb default 10`,
    `tc class replace dev ${device} parent 1: classid 1:10 htb rate ${rate} ceil ${rate}`,
    `tc qdisc replace dev ${device} parent 1:10 handle 10: ${qdisc}`,
  ];
}
