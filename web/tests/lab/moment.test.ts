import { describe, expect, it } from "vitest";
import { fromQuery, toQuery } from "../../src/lab/model/moment";

describe("the moment in an address", () => {
  it("is read back as it was written", () => {
    const moment = {
      drags: [
        { atS: 1.234567891, direction: "up" as const, bitsPerSecond: 1_000_000 },
        { atS: 2, direction: "down" as const, bitsPerSecond: 2_500_000 },
      ],
      atS: 9.5,
      speed: Infinity,
    };
    const query = new URLSearchParams("compare=codel");
    toQuery(query, moment);
    expect(fromQuery(query)).toEqual(moment);
    expect(query.get("compare")).toBe("codel");
    toQuery(query, {});
    expect([...query.keys()]).toEqual(["compare"]);
    expect(fromQuery(query)).toEqual({ drags: [], atS: 0, speed: 1 });
  });

  it.each(["rates=x", "rates=1:left:1000000", "rates=1:up:5", "rates=:up:1000000", "at=-1", "at=", "speed=fast"])(
    "refuses %s with a sentence",
    (query) => {
      expect(() => fromQuery(new URLSearchParams(query))).toThrow(
        /^The link has (rates|at|speed) “.*”, but it must be .*\.$/,
      );
    },
  );
});
