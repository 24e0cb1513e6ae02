import { describe, expect, test } from "vitest";
import { grade, mos } from "../../src/story/facts";
import { received } from "../../src/story/hear";
import { linux, openwrt } from "../../src/story/home";
import { FIGURES, HOUSE, houseScene } from "../../src/story/scenes";
import { csvOf } from "../../src/files";
import { chartOf } from "../../src/story/share";

test("grades are those of tests of bufferbloat on the web", () => {
  expect([0, 4.9, 5, 30, 60, 200, 399, 400].map(grade)).toEqual(["A+", "A+", "A", "B", "C", "D", "D", "F"]);
});

describe("the quality of a call", () => {
  const stream = (mean: number, ipdv_ms: number, lost: number) => ({
    name: "call",
    sent: 1000,
    lost,
    delay_ms: { mean },
    ipdv_ms,
  });
  // The numbers are of `sojourn.stats.mos.mos_cole_rosenbluth`.
  test.each([
    [100, 0, 0, 4.380564],
    [100, 0, 10, 4.276062],
    [300, 5, 0, 3.696736],
    [900, 0, 20, 1],
  ])("delay %d ms, variation %d ms, %d of 1000 lost", (mean, ipdv, lost, score) => {
    expect(mos(stream(mean, ipdv, lost))).toBeCloseTo(score, 5);
  });

  test("without a packet that arrives it is the worst", () => {
    expect(mos({ name: "call", sent: 10, lost: 10, delay_ms: null })).toBe(1);
  });
});

test("the other end plays what comes in time, and hears it late", () => {
  const said = Float32Array.from({ length: 8 }, () => 1);
  // Packets of 20 ms at 100 samples a second have two samples.
  const { heard, lateS } = received(said, 100, [0.1, NaN, 0.3, 0.15]);
  expect(lateS).toBeCloseTo(0.16);
  expect([...heard]).toEqual([1, 1, 0, 0, 0, 0, 1, 1]);
});

test("the lines for home are of the good discipline, below the rates of the line", () => {
  expect(openwrt(50, 10)).toContain("uci set sqm.wan.upload=9000");
  expect(openwrt(50, 10)).toContain("uci set sqm.wan.download=45000");
  const lines = linux(50, 10);
  expect(lines).toContain("dev eth0 root handle 1: cake bandwidth 9000kbit nat");
  expect(lines).toContain("dev ifb0 root handle 1: cake bandwidth 45000kbit nat ingress");
  expect(lines).not.toMatch(/pfifo|fifo/);
});

test("a table is RFC 4180, and its chart is text that is escaped", () => {
  expect(
    csvOf([
      ["a", "b"],
      ['x "y", z', 1.5],
    ]),
  ).toBe('a,b\r\n"x ""y"", z",1.5\r\n');
  const svg = chartOf(
    [
      ["router", "ping_ms"],
      ["<b>", 758.2],
    ],
    "One & two.",
  );
  expect(svg).toContain("&lt;b&gt;");
  expect(svg).toContain("One &amp; two.");
  expect(svg).toContain(">758.2<");
});

test("there are seven figures, and an empty house has no flows", () => {
  expect(FIGURES.length).toBe(7);
  expect(houseScene({ ...HOUSE, upload: false, film: false }, "managed")["flows"]).toEqual([]);
});
