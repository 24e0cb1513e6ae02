import { describe, expect, test } from "vitest";
import { EMPTY, fromHash, toHash, type State } from "../../src/view/data/address";

describe("the address of a state", () => {
  test("is read back as it was written", () => {
    const state: State = {
      tab: "plots",
      filter: 'fq_codel rtt_p95_ms>50 folder="a,b & c"',
      by: "rtt_p95_ms",
      descending: true,
      columns: ["link", "qdisc"],
      runs: ["0/abc", "1/def"],
      zoom: [1.5, 2.25],
      group: ["qdisc", "", "jain_up"],
    };
    expect(fromHash(toHash(state))).toEqual(state);
    expect(toHash(EMPTY)).toBe("#/runs");
    expect(fromHash("#/runs")).toEqual(EMPTY);
  });

  test("takes what cannot be meant for what is there at the beginning", () => {
    for (const zoom of ["x,1", "3,1", "1", "NaN,2", ""]) expect(fromHash(`#/plots?zoom=${zoom}`).zoom).toBeUndefined();
    expect(fromHash("").tab).toBe("");
  });
});
