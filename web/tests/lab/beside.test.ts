import { expect, it } from "vitest";
import { besideOf, titleOf } from "../../src/lab/model/beside";
import { FIRST, toScenario } from "../../src/lab/model/lab";

const wire = toScenario(FIRST);
const cell = toScenario({
  ...FIRST,
  wifi: { scheme: "fq_codel", stations: [{ name: "slow", rate: "ht mcs 0 20mhz" }] },
});

it("a run beside another differs in the disciplines alone", () => {
  expect(besideOf(wire, "codel")).toEqual({ ...wire, qdisc_up: "codel", qdisc_down: "codel" });
  expect(besideOf(wire, "fq_codel")).toEqual({ ...wire, qdisc_up: "fq_codel", qdisc_down: "fq_codel" });
});

it("in a cell it differs in the scheme, if that is what is named", () => {
  expect(besideOf(cell, "airtime")).toEqual({ ...cell, wifi: { ...(cell["wifi"] as object), scheme: "airtime" } });
  expect(besideOf(cell, "cake")).toEqual({ ...cell, qdisc_up: "cake", qdisc_down: "cake" });
  expect(cell["wifi"]).toMatchObject({ scheme: "fq_codel" });
});

it.each([
  ["pfifo limit 1000", wire],
  ["codel (up), pie (down)", { ...wire, qdisc_up: "codel", qdisc_down: "pie" }],
  ["fq_codel", { duration: "1s" }],
  ["Wi-Fi, fq_codel; pfifo limit 1000", cell],
  ["Wi-Fi, airtime; fq_codel", { wifi: {} }],
  ["mine", { experiment: "mine", topology: {} }],
])("its title is %s", (title, scenario) => {
  expect(titleOf(scenario)).toBe(title);
});
