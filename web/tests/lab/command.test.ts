import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { quoted, toCommand, toTc } from "../../src/lab/model/command";
import { FIRST, toScenario, type Lab } from "../../src/lab/model/lab";

// The command line that is shown is run by the real `sojourn`. Without it (no .venv) these tests are skipped.
const root = resolve(import.meta.dirname, "../../..");
const python = resolve(root, ".venv/bin/python");
const env = { ...process.env, PYTHONPATH: resolve(root, "python") };

const quick: Lab = { ...FIRST, duration: "1s", voice: true, pages: true, ecn: true, flowsDown: ["cubic", "reno"] };
const cell: Lab = {
  ...quick,
  wifi: {
    scheme: "airtime",
    stations: [
      { name: "near", rate: "ht mcs 15 20mhz sgi" },
      { name: "far", rate: "ht mcs 0 20mhz" },
    ],
  },
};

it.skipIf(!existsSync(python)).each([
  ["a wire", quick],
  ["a cell", cell],
])("the line runs %s as the form has it", (_, lab) => {
  const command = toCommand(toScenario(lab));
  const folder = mkdtempSync(join(tmpdir(), "sojourn-lab-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, command.file), command.toml);
  const words = command.line.split(" ").slice(1);
  const printed = execFileSync(python, ["-m", "sojourn", ...words, "--json"], { cwd: folder, env, encoding: "utf8" });
  const { scenario } = JSON.parse(printed) as { scenario: Record<string, unknown> };
  expect(scenario).toEqual(normalized(toScenario(lab)));
  expect(scenario).toMatchObject({ experiment: "lab", seed: 1, qdisc_up: "pfifo limit 1000" });
  expect(scenario["tcp"]).toMatchObject({ ecn: true });
  expect(scenario["web"]).toMatchObject(toScenario(lab)["web"] as object[]);
  expect(scenario["flows"]).toMatchObject(toScenario(lab)["flows"] as object[]);
  expect(scenario["probes"]).toMatchObject(toScenario(lab)["probes"] as object[]);
});

/** The scenario with every default, as the simulator of the command line writes it. */
function normalized(scenario: object): unknown {
  const code = "import sys; from sojourn import _native; print(_native.normalize(sys.stdin.read()))";
  return JSON.parse(
    execFileSync(python, ["-c", code], { input: JSON.stringify(scenario), env, encoding: "utf8" }),
  ) as unknown;
}

it.skipIf(!existsSync(python)).each([
  ["of one discipline", { ...FIRST, duration: "1s" }],
  ["of two disciplines", { ...FIRST, duration: "1s", qdiscUp: "codel", flowsDown: [] }],
  ["of other flows", { ...FIRST, duration: "1s", rtt: "20ms", flowsUp: ["bbr", "bbr"], flowsDown: ["bbr"], seed: 7 }],
])("the line of the built-in experiment runs the same scenario: %s", (_, lab: Lab) => {
  const { builtin } = toCommand(toScenario(lab));
  const printed = execFileSync("sh", ["-c", `exec ${python} -m ${builtin} --json`], { env, encoding: "utf8" });
  const { scenario } = JSON.parse(printed) as { scenario: unknown };
  expect(scenario).toEqual(normalized(toScenario(lab)));
});

it.each([
  ["a call", { ...FIRST, voice: true }],
  ["two controls", { ...FIRST, flowsUp: ["reno"] }],
  ["no flow", { ...FIRST, flowsUp: [], flowsDown: [] }],
])("a scenario with %s is no built-in experiment", (_, lab: Lab) => {
  expect(toCommand(toScenario(lab)).builtin).toBeUndefined();
});

it.each(["10mbit", "pfifo limit 1000", "it's", "$(id)", "-x", "", "a\nb", "é`"])(
  "a shell reads the word %j as it was",
  (word) => {
    expect(execFileSync("sh", ["-c", `printf %s ${quoted(word)}`], { encoding: "utf8" })).toBe(word);
  },
);

// The kernel that runs judges the lines, on the loopback device of a namespace of its own, if it has HTB.
const namespace = (script: string): string =>
  execFileSync("unshare", ["-Urn", "sh", "-ec", script], { encoding: "utf8", stdio: "pipe" });
function takes(qdisc: string): boolean {
  try {
    namespace(`tc qdisc replace dev lo root ${qdisc}`);
    return true;
  } catch {
    return false;
  }
}

describe.skipIf(!takes("htb default 10"))("the real tc", () => {
  const known = ["fq_codel target 6ms", "pfifo limit 100", "sfq perturb 10", "codel", "pie"].filter(takes);

  it("has a discipline to try", () => expect(known).not.toEqual([]));

  it.each(known)("takes the lines of %s, and again over its own", (qdisc) => {
    const lines = toTc("lo", "20mbit", qdisc);
    const shown = namespace([...lines, ...lines, "tc qdisc show dev lo; tc class show dev lo"].join("\n"));
    expect(shown).toMatch(/^qdisc htb 1: root /m);
    expect(shown).toMatch(new RegExp(`^qdisc ${qdisc.split(" ")[0]} 10: parent 1:10 `, "m"));
    expect(shown).toMatch(/^class htb 1:10 .* rate 20Mbit ceil 20Mbit /m);
  });
});

it.each([
  ["cake ack-filter", "cake bandwidth 20mbit ack-filter"],
  ["cake bandwidth 5mbit", "cake bandwidth 5mbit"],
])("CAKE shapes by itself: %s", (qdisc, words) => {
  expect(toTc("eth0", "20mbit", qdisc)).toEqual([
    "tc qdisc del dev eth0 root 2>/dev/null || true",
    `tc qdisc replace dev eth0 root handle 1: ${words}`,
  ]);
});

it("tc's lines name the rate and the discipline", () => {
  expect(toTc("eth0", "20mbit", "fq_codel target 5ms").slice(2)).toEqual([
    "tc class replace dev eth0 parent 1: classid 1:10 htb rate 20mbit ceil 20mbit",
    "tc qdisc replace dev eth0 parent 1:10 handle 10: fq_codel target 5ms",
  ]);
});

it.each([
  ["eth0; reboot", "20mbit", "pie"],
  ["eth0", "$(id)", "pie"],
  ["eth0", "20mbit", "pie\nreboot"],
  ["eth0", "20mbit", "gbw:codel"],
])("words that a shell would read otherwise are refused: %j %j %j", (device, rate, qdisc) => {
  expect(() => toTc(device, rate, qdisc)).toThrow(/, but /);
});
