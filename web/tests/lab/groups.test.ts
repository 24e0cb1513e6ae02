import { expect, it } from "vitest";
import { fromScenario } from "../../src/lab/model/form";
import { flowsOf, groupsOf, MOST_FLOWS, whole } from "../../src/lab/model/groups";
import { FIRST, toScenario, type Lab } from "../../src/lab/model/lab";

it.each([[[]], [["cubic"]], [["cubic", "cubic", "bbr", "cubic"]]])("flows in groups come back: %j", (flows) => {
  expect(flowsOf(groupsOf(flows))).toEqual(flows);
  const lab: Lab = { ...FIRST, flowsUp: flows, qdiscDown: "fq_codel" };
  expect(fromScenario(toScenario(lab))).toEqual(lab);
});

it("flows are bounded, whatever is typed", () => {
  expect(flowsOf([{ count: 1e9, control: "cubic" }])).toHaveLength(MOST_FLOWS);
  expect(flowsOf(Array.from({ length: 5 }, () => ({ count: 60, control: "bbr" })))).toHaveLength(MOST_FLOWS);
  expect(flowsOf([{ count: Number.NaN, control: "cubic" }])).toEqual([]);
  expect([whole("", 1, 9), whole("7.9", 1, 9), whole("-3", 1, 9), whole("x", 1, 9)]).toEqual([1, 7, 1, 1]);
});

it.each([
  ["a network", { topology: { links: [] } }],
  ["a probe", { probes: [{ name: "other", kind: "udp_rr" }] }],
  ["a flow of another shape", { flows: [null, 5] }],
  ["pages of another size", { web: [{ name: "pages", objects: [1] }] }],
])("the form does not claim a scenario with %s that it cannot express", (_, more) => {
  expect(fromScenario({ ...toScenario(FIRST), ...more })).toBeUndefined();
});
