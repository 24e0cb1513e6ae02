import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { FIRST, toScenario } from "../../src/lab/model/lab";
import { BadText, fromText } from "../../src/lab/model/paste";
import { toToml } from "../../src/lab/model/toml";

const examples = resolve(import.meta.dirname, "../../../examples");

describe("a pasted text", () => {
  it("is a scenario as JSON, as TOML, or as a record that holds one", () => {
    const scenario = toScenario({ ...FIRST, voice: true, ecn: true });
    expect(fromText(toToml(scenario))).toEqual(scenario);
    expect(fromText(JSON.stringify(scenario))).toEqual(scenario);
    expect(fromText(JSON.stringify({ format: "sojourn-run/1", scenario }))).toEqual(scenario);
  });

  it.each(readdirSync(examples).filter((name) => name.endsWith(".toml")))("may be the example %s", (name) => {
    const scenario = fromText(readFileSync(join(examples, name), "utf8"));
    expect(Object.keys(scenario).length).toBeGreaterThan(1);
    // What was read is plain data: a link holds it as it is.
    expect(JSON.parse(JSON.stringify(scenario))).toEqual(scenario);
  });

  it("keeps a key that JavaScript gives a meaning of its own", () => {
    const scenario = fromText('duration = "1s"\n"__proto__" = { up = "1mbit" }\n');
    expect(scenario["up"]).toBeUndefined();
    expect(Object.keys(scenario)).toContain("__proto__");
  });

  it.each([
    ["{", "not JSON"],
    ["= 5", "not TOML"],
    ["duration = 5 s", "not TOML"],
    ["seed = 9007199254740993", "not TOML"],
    [" ".repeat(1_048_577), "at most 1048576"],
  ])("is refused with a sentence: %.20j", (text, sentence) => {
    expect(() => fromText(text)).toThrow(BadText);
    expect(() => fromText(text)).toThrow(sentence);
  });
});
