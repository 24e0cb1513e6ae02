import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import en from "../../src/texts/en.json";
import { chosenLanguage, LANGUAGES, speechOf, type Key, type Language } from "../../src/texts/texts";

const languages = Object.keys(LANGUAGES) as Language[];
const file = (language: string): Record<string, string> =>
  JSON.parse(readFileSync(new URL(`../../src/texts/${language}.json`, import.meta.url), "utf8")) as Record<
    string,
    string
  >;
const holes = (text: string): string[] => (text.match(/\{\w+\}/g) ?? []).sort();

describe.each(languages)("%s", (language) => {
  test("has every key, no other, and the same numbers in each text", () => {
    const texts = file(language);
    expect(Object.keys(texts)).toEqual(Object.keys(en));
    for (const [key, text] of Object.entries(en)) {
      expect(texts[key]?.trim(), key).not.toBe("");
      expect(holes(texts[key] ?? ""), key).toEqual(holes(text));
    }
  });

  test("is a language of its own", () => {
    const same = Object.entries(file(language)).filter(([key, text]) => en[key as Key] === text && text.length > 40);
    expect(same.length, same.join()).toBe(language === "en" ? same.length : 0);
  });
});

test("numbers are written as the language writes them", async () => {
  const [german, english] = [await speechOf("de"), await speechOf("en")];
  expect(german.ms(758.24)).toBe("758 ms");
  expect(german.mbit(9.452)).toBe("9,45 Mbit/s");
  expect(english.number(12345)).toBe("12,345");
  expect(english.say("buffer.state", { n: 5, q: 3 })).toBe("Room for 5 packets. Packets in the queue now: 3.");
});

test("the address chooses the language, or else the reader's list", () => {
  expect(chosenLanguage("ja", ["de"])).toBe("ja");
  expect(chosenLanguage(null, ["nl", "pt-BR", "en"])).toBe("pt");
  expect(chosenLanguage("xx", [])).toBe("en");
  expect(chosenLanguage("toString", ["constructor"])).toBe("en");
});
