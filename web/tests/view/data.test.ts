import { describe, expect, test } from "vitest";
import { columnsOf, sorted, textAt } from "../../src/view/data/columns";
import { oneSigma, outline } from "../../src/view/data/ellipse";
import { filtered, FilterError } from "../../src/view/data/filter";
import { grouped, keysOf, strengths } from "../../src/view/data/groups";
import { logTicks, shown, ticks } from "../../src/charts/numbers";
import { colours, dashOf } from "../../src/charts/colours";
import { constants, shade, verdicts } from "../../src/view/data/map";

const TABLE = columnsOf(4, [
  { name: "qdisc", kind: "text", values: [0, 1, 0, 2], words: ["codel", "fq_codel", "<b>Pfifo</b> limit 9"] },
  { name: "seed", kind: "text", values: [0, 1, 2, 3], words: ["9", "10", "2", "18446744073709551615"] },
  { name: "rtt_p95_ms", kind: "number", values: [50, 60.5, null, 400] },
]);
const rows = (text: string): number[] => [...filtered(TABLE, text)];

describe("the filter", () => {
  test.each<[string, number[]]>([
    ["", [0, 1, 2, 3]],
    ["codel", [0, 1, 2]],
    ["CODEL rtt_p95_ms>55", [1]],
    ["qdisc=codel", [0, 2]],
    ["qdisc!=codel", [1, 3]],
    ["qdisc~limit", [3]],
    ["rtt_p95_ms >= 60.5", [1, 3]],
    ["rtt_p95_ms<1e3", [0, 1, 3]],
    ["rtt_p95_ms>-1", [0, 1, 3]],
    ["-rtt_p95_ms<1e3", [2]],
    ["not codel or rtt_p95_ms=50", [0, 3]],
    ["(pfifo or fq_codel) and rtt_p95_ms>100", [3]],
    ['qdisc="<b>pfifo</b> limit 9"', [3]],
    ["seed<10", [0, 2]],
    ["seed>18446744073709551614", [3]],
    ["nothing-like-it", []],
  ])("%s", (text, kept) => expect(rows(text)).toEqual(kept));

  test.each([
    ["rtt>5", "There is no column “rtt”."],
    ["rtt_p95_ms>fast", "“fast” is no number"],
    ["rtt_p95_ms~5", "“~” is for texts"],
    ["rtt_p95_ms>", "A value is missing"],
    [">5", "The name of a column is missing"],
    ["(codel", "A parenthesis has no partner"],
    ["codel)", "where nothing was expected"],
    ['"codel', "A quotation mark"],
    ["codel or", "A condition is missing"],
    ["-", "Nothing stands behind"],
    ["x".repeat(2001), "at most 2000"],
  ])("%s is refused with a sentence", (text, sentence) => {
    expect(() => filtered(TABLE, text)).toThrow(FilterError);
    expect(() => filtered(TABLE, text)).toThrow(sentence);
  });

  test("keeps and sorts ten thousand rows in well under 200 ms", () => {
    const count = 10_000;
    const names = Array.from({ length: count }, (_, row) => row);
    const table = columnsOf(count, [
      { name: "link", kind: "text", values: names, words: names.map((row) => `${row}`.padStart(32, "0")) },
      { name: "x", kind: "number", values: names.map((row) => (row * 7919) % 1000) },
    ]);
    const from = performance.now();
    const kept = sorted(table, filtered(table, "77 (x<500 or link~123) -x=3"), "x", true);
    expect(performance.now() - from).toBeLessThan(200);
    const wanted = names.filter((row) => {
      const [id, x] = [`${row}`.padStart(32, "0"), (row * 7919) % 1000];
      return id.includes("77") && (x < 500 || id.includes("123")) && x !== 3;
    });
    expect([...kept].sort((a, b) => a - b)).toEqual(wanted);
  });
});

describe("rates and times", () => {
  const texts = (name: string, words: string[]) => ({ name, kind: "text" as const, values: [0, 1, 2], words });
  const table = columnsOf(3, [
    texts("up", ["5mbit", "1gbit", "100mbit"]),
    texts("rtt", ["100ms", "20ms", "1s"]),
    texts("id", ["1000a", "b", "c"]),
    texts("qdisc", ["pfifo limit 10", "pfifo limit 1000", "codel"]),
  ]);

  test.each<[string, number[]]>([
    ["up>100mbit", [1]],
    ["up>=0.1gbit", [1, 2]],
    ["up<100mbit", [0]],
    ["up=1000mbit", [1]],
    ["rtt=0.1s", [0]],
    ["rtt!=0.1S", [1, 2]],
    ["rtt~0ms", [0, 1]],
    ["1000", [1]],
    ["id=1000a", [0]],
  ])("%s", (text, kept) => expect([...filtered(table, text)]).toEqual(kept));

  test.each([
    ["up>100", "up is compared with a rate such as 100mbit, which “100” is not."],
    ["rtt<5mbit", "rtt is compared with a time such as 50ms"],
  ])("%s is refused", (text, sentence) => expect(() => filtered(table, text)).toThrow(sentence));

  test("are sorted by what they are", () => {
    expect([...sorted(table, filtered(table, ""), "up", false)]).toEqual([0, 2, 1]);
    expect([...sorted(table, filtered(table, ""), "rtt", true)]).toEqual([2, 0, 1]);
  });
});

test("a map in short", () => {
  const map = {
    columns: ["rate", "share", "verdict"],
    rows: [
      [1, 50, "alike"],
      [1, 91, "classic starves"],
      [1, null, "alike"],
    ],
  };
  expect([...constants(map)]).toEqual([[0, "1"]]);
  expect(verdicts(map)).toEqual([
    ["alike", 2],
    ["classic starves", 1],
  ]);
  expect(shade("share", 91)).toContain("#d55e00 41%");
  expect(shade("share", null)).toBeUndefined();
  expect(shade("rate", 91)).toBeUndefined();
});

test("eight lines of one colour have eight dashes", () => {
  expect(new Set(Array.from({ length: 8 }, (_, number) => JSON.stringify(dashOf(number)))).size).toBe(8);
});

test("rows are sorted by number or by text, those without a value last", () => {
  const all = filtered(TABLE, "");
  expect([...sorted(TABLE, all, "rtt_p95_ms", false)]).toEqual([0, 1, 3, 2]);
  expect([...sorted(TABLE, all, "rtt_p95_ms", true)]).toEqual([3, 1, 0, 2]);
  expect([...sorted(TABLE, all, "seed", false)].map((row) => textAt(TABLE, "seed", row))).toEqual([
    "2",
    "9",
    "10",
    "18446744073709551615",
  ]);
});

test("the ellipse is that of sojourn.stats.ellipse", () => {
  // one_sigma([1, 2, 3, 5], [9, 7, 8, 2]) in Python.
  const shape = oneSigma([1, 2, 3, 5], [9, 7, 8, 2]);
  expect(shape.x).toBe(2.5);
  expect(shape.y).toBe(7.5);
  expect(shape.major).toBeCloseTo(3.4909492951238645, 12);
  expect(shape.minor).toBeCloseTo(0.6297669030740859, 12);
  expect(shape.angle).toBeCloseTo(-1.0901821070553113, 12);
  expect(oneSigma([4], [5])).toEqual({ x: 4, y: 5, major: 0, minor: 0, angle: 0 });
  for (const [x, y] of outline({ x: 1, y: 2, major: 3, minor: 3, angle: 0.4 })) {
    expect(Math.hypot(x - 1, y - 2)).toBeCloseTo(3, 12);
  }
});

test("numbers and ticks are round", () => {
  expect(shown(null)).toBe("–");
  expect(shown(0.123456)).toBe("0.1235");
  expect(shown(1234567)).toBe("1235000");
  expect(shown(1e9)).toBe("1.00e+9");
  expect(ticks(0, 10)).toEqual([0, 2, 4, 6, 8, 10]);
  expect(ticks(0.1, 0.35)).toEqual([0.1, 0.15, 0.2, 0.25, 0.3, 0.35]);
  expect(logTicks(3, 120)).toEqual([5, 10, 20, 50, 100]);
});

test("every label has a colour of its own, a discipline the same one always", () => {
  const found = colours(["gbw:codel", "codel target 5ms", "fq_codel", "constructor"], false);
  expect(new Set(found.values()).size).toBe(4);
  expect(found.get("gbw:codel")).toBe(colours(["codel"], false).get("codel"));
});

test("runs are grouped by a column and by a part of what else differs, and what a mean pools is named", () => {
  const table = columnsOf(8, [
    { name: "qdisc", kind: "text", values: [0, 0, 0, 0, 1, 1, 1, 1], words: ["pie", "codel"] },
    { name: "setting", kind: "text", values: [0, 0, 1, 1, 0, 0, 1, 1], words: ["rtt 0.2s", "rtt 20ms"] },
    { name: "backend", kind: "text", values: [0, 1, 0, 1, 0, 1, 0, 1], words: ["sim", "linux"] },
    { name: "id", kind: "text", values: [0, 1, 2, 3, 4, 5, 6, 7], words: [..."abcdefgh"] },
    { name: "rtt_p95_ms", kind: "number", values: [1, 3, 5, 5, 10, 20, null, null] },
  ]);
  const all = filtered(table, "");
  const keys = keysOf(table, all);
  expect(keys.map((key) => key.name)).toEqual(["qdisc", "backend", "rtt"]);
  const [qdisc, backend, rtt] = keys as [(typeof keys)[0], (typeof keys)[0], (typeof keys)[0]];
  const found = grouped(table, all, keys, qdisc, rtt, "rtt_p95_ms");
  expect([found.down, found.across, found.pooled]).toEqual([["codel", "pie"], ["20ms", "0.2s"], ["backend"]]);
  const means = found.cells.map((line) => line.map((cell) => cell?.mean));
  expect(means).toEqual([
    [undefined, 15],
    [5, 2],
  ]);
  expect(found.cells[1]?.[1]).toEqual({ n: 2, mean: 2, least: 1, most: 3 });
  expect(strengths(found.cells)(2)).toBe(0);
  expect(strengths(found.cells)(15)).toBe(1);
  const one = grouped(table, all, keys, backend, undefined, "rtt_p95_ms");
  expect([one.across, one.pooled]).toEqual([[""], ["qdisc", "rtt"]]);
  const kept = filtered(table, `${qdisc.filter("codel")} ${rtt.filter("0.2s")}`);
  expect([...kept]).toEqual([4, 5]);
});
