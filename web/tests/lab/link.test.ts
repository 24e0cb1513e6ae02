import { deflateRawSync, inflateRawSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { FIRST, toScenario } from "../../src/lab/model/lab";
import { BadLink, fromHash, toHash } from "../../src/lab/model/link";

const link = (text: string | Buffer): string => `#1.${deflateRawSync(text).toString("base64url")}`;

describe("a link", () => {
  it("holds the whole scenario, also what the form cannot express", async () => {
    const scenario = { ...toScenario(FIRST), experiment: "<b>é", topology: { links: [{ between: ["a", "b"] }] } };
    const hash = await toHash(scenario);
    expect(await fromHash(hash)).toEqual(scenario);
    // zlib of Node, which this page does not use, reads the same.
    expect(JSON.parse(inflateRawSync(Buffer.from(hash.slice(3), "base64url")).toString())).toEqual(scenario);
  });

  it.each([
    ["", "must begin"],
    ["#2.abc", "must begin"],
    ["#1.", "not of base64"],
    ["#1.a b", "not of base64"],
    ["#1.AAAA", "cannot be unpacked"],
    [link("{").slice(0, -2), "cannot be unpacked"],
    [link("{"), "does not hold JSON"],
    [link(Buffer.from([0xff, 0xfe])), "does not hold JSON"],
    [link("[]"), "not an object"],
    [link("null"), "not an object"],
    [`#1.${"A".repeat(70_000)}`, "at most 65536"],
    [link(" ".repeat(2_000_000)), "more than 1048576 bytes"],
  ])("is refused with a sentence: %.20s", async (hash, sentence) => {
    const refusal = fromHash(hash);
    await expect(refusal).rejects.toBeInstanceOf(BadLink);
    await expect(refusal).rejects.toThrow(sentence);
  });
});
