import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { expect, it } from "vitest";
import { FIRST, toScenario, type Lab } from "../../src/lab/model/lab";
import { toToml } from "../../src/lab/model/toml";

// Python's tomllib and the real scenario reader judge what is written.
const root = resolve(import.meta.dirname, "../../..");
const python = resolve(root, ".venv/bin/python");
const env = { ...process.env, PYTHONPATH: resolve(root, "python") };
const ask = (code: string, input: string): unknown =>
  JSON.parse(execFileSync(python, ["-c", code], { input, env, encoding: "utf8" }));

const wifi: Lab = {
  ...FIRST,
  voice: true,
  pages: true,
  ecn: true,
  wifi: {
    scheme: "airtime",
    stations: [
      { name: "near", rate: "ht mcs 15 20mhz sgi" },
      { name: "far", rate: "ht mcs 0 20mhz" },
    ],
  },
};

const READ = "import json,sys,tomllib; print(json.dumps(tomllib.loads(sys.stdin.read())))";

it.skipIf(!existsSync(python)).each([
  ["the first scenario", toScenario(FIRST)],
  ["a cell", toScenario(wifi)],
  ["hostile text", { "a b": 'q"\\\n\u007f<', list: [1, -2.5, 1e-9, 1e21, true], table: {} }],
])("TOML of %s is read back by tomllib", (_, scenario) => {
  expect(ask(READ, toToml(scenario))).toEqual(scenario);
});
