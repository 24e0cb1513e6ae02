import { expect, test } from "vitest";
import type { Catalogue } from "../../src/engine/protocol";
import { FIRST } from "../../src/lab/model/lab";
import { rateOf, readLab, timeOf } from "../../src/lab/model/units";
import { LONGEST_S, nextStep } from "../../src/lab/pace";

const CATALOGUE: Catalogue = {
  disciplines: [{ name: "codel", about: "", words: [{ name: "target", about: "", unit: "time" }] }],
  presets: [],
  controls: [],
};

test.each([
  ["10mbit", "10mbit"],
  ["10 Mbit", "10mbit"],
  ["10 Mbit/s", "10mbit"],
  ["1.5gbit", "1.5gbit"],
  ["64kibit", "64kibit"],
])("%s is a rate", (typed, rate) => expect(rateOf("Down", typed)).toBe(rate));

test.each([
  ["10", "Down is “10”, but must be a rate with its unit: kbit, mbit or gbit"],
  ["10Mb", "kbit, mbit or gbit"],
  ["10mbps", "tc takes mbps for bytes, so this would be 8 times 10mbit."],
  ["-1mbit", "kbit, mbit or gbit"],
  ["", "kbit, mbit or gbit"],
])("%s is refused as a rate", (typed, sentence) => expect(() => rateOf("Down", typed)).toThrow(sentence));

test("a time has a unit", () => {
  expect(timeOf("RTT", "50 ms")).toBe("50ms");
  expect(timeOf("RTT", "1.5S")).toBe("1.5s");
  expect(() => timeOf("RTT", "50")).toThrow(
    "RTT is “50”, but must be a time with its unit: us, ms or s, such as 50ms.",
  );
});

test("so have times in a discipline that is known", () => {
  const lab = { ...FIRST, qdiscUp: "codel limit 100 target 5" };
  expect(() => readLab(lab, CATALOGUE)).toThrow("target of the discipline up is “5”, but must be a time");
  expect(readLab({ ...lab, qdiscUp: "codel limit 100 target 5ms" }, CATALOGUE).qdiscUp).toBe(
    "codel limit 100 target 5ms",
  );
  expect(readLab({ ...FIRST, down: "20 Mbit" })).toEqual({ ...FIRST, down: "20mbit" });
});

test("a run at full speed goes on at least as at 1 x, whatever drawing costs", () => {
  // A slow processor: each frame takes 60 ms, of which the simulator takes 2, then 55.
  let step = 0.005;
  for (let frame = 0; frame < 20; frame += 1) step = nextStep(step, 2, 60);
  expect(step).toBe(LONGEST_S);
  for (let frame = 0; frame < 20; frame += 1) step = nextStep(step, 55, 60);
  expect(step).toBe(0.06);
  // Where it has room, it takes 13 ms of each frame.
  expect(nextStep(0.1, 26, 16)).toBe(0.05);
});
