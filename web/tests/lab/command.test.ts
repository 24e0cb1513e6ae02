import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { toCommand, toTc } from "../../src/lab/model/command";
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
  expect(scenario).toMatchObject({ experiment: "lab", seed: 1, qdisc_up: "pfifo limit 1000" });
  expect(scenario["tcp"]).toMatchObject({ ecn: true });
  expect(scenario["web"]).toMatchObject(toScenario(lab)["web"] as object[]);
  expect(scenario["flows"]).toMatchObject(toScenario(lab)["flows"] as object[]);
  expect(scenario["probes"]).toMatchObject(toScenario(lab)["probes"] as object[]);
});

it("tc's lines name the rate and the discipline", () => {
  expect(toTc("eth0", "20mbit", "fq_codel target 5ms").slice(1)).toEqual([
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
