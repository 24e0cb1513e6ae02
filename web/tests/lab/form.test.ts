import { expect, test } from "vitest";
import { fromScenario } from "../../src/lab/model/form";
import { FIRST, toScenario, type Lab } from "../../src/lab/model/lab";
import { TOUR } from "../../src/lab/tour";

const FULL: Lab = {
  ...FIRST,
  flowsUp: ["bbr", "bbr"],
  flowsDown: [],
  voice: true,
  pages: true,
  ecn: true,
  wifi: { scheme: "airtime", stations: [{ name: "slow", rate: "ht mcs 0 20mhz" }] },
  seed: 7,
};

test("each form comes back from its scenario, also by way of JSON", () => {
  for (const lab of [FIRST, FULL, ...TOUR.map((step) => step.lab)]) {
    expect(fromScenario(JSON.parse(JSON.stringify(toScenario(lab))))).toEqual(lab);
  }
});

test("a scenario that says more is no form's", () => {
  const scenario = toScenario(FULL);
  expect(fromScenario({ ...scenario, loss_up: 0.01 })).toBeUndefined();
  expect(fromScenario({ ...scenario, tcp: { ecn: true, min_rto: "1s" } })).toBeUndefined();
  expect(fromScenario({ ...scenario, wifi: 3 })).toBeUndefined();
  expect(fromScenario({ flows: "none", probes: 7 })).toBeUndefined();
  expect(fromScenario({})).toBeUndefined();
});
