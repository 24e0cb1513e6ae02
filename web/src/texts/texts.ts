// All words of the story, one file a language. English is the pattern: a test finds a key that a language lacks.

import en from "./en.json";

export type Key = keyof typeof en;
export type Texts = Record<Key, string>;
export type Values = Record<string, string | number>;

/** The languages, by the name that each has for itself. */
export const LANGUAGES = {
  en: "English",
  de: "Deutsch",
  es: "Español",
  fr: "Français",
  pt: "Português",
  zh: "中文",
  ja: "日本語",
} as const;
export type Language = keyof typeof LANGUAGES;

const FILES: Record<Exclude<Language, "en">, () => Promise<{ default: Texts }>> = {
  de: () => import("./de.json"),
  es: () => import("./es.json"),
  fr: () => import("./fr.json"),
  pt: () => import("./pt.json"),
  zh: () => import("./zh.json"),
  ja: () => import("./ja.json"),
};

/** The words and numbers of one language. */
export class Speech {
  private readonly whole: Intl.NumberFormat;
  private readonly digits: Intl.NumberFormat;

  constructor(
    readonly language: Language,
    private readonly texts: Texts,
  ) {
    this.whole = new Intl.NumberFormat(language, { maximumFractionDigits: 0 });
    this.digits = new Intl.NumberFormat(language, { maximumSignificantDigits: 3 });
  }

  /** The text of a key. What stands in braces is replaced; numbers are written as the language writes them. */
  say(key: Key, values: Values = {}): string {
    return this.texts[key].replace(/\{(\w+)\}/g, (_, name: string) => {
      const value = values[name];
      return typeof value === "number" ? this.number(value) : (value ?? "");
    });
  }

  /** A number with three digits; whole from 100 on. */
  number(value: number): string {
    if (!Number.isFinite(value)) return "–";
    return (Math.abs(value) >= 100 ? this.whole : this.digits).format(value);
  }

  ms = (value: number): string => this.say("unit.ms", { n: value });
  mbit = (value: number): string => this.say("unit.mbit", { n: value });
  percent = (share: number): string =>
    new Intl.NumberFormat(this.language, { style: "percent", maximumFractionDigits: 0 }).format(share);
}

/** The language of the address, or else the first of the reader's that there is. */
export function chosenLanguage(wanted: string | null, readers: readonly string[]): Language {
  for (const tag of [wanted ?? "", ...readers]) {
    const language = tag.toLowerCase().split("-", 1)[0] ?? "";
    if (Object.hasOwn(LANGUAGES, language)) return language as Language;
  }
  return "en";
}

export async function speechOf(language: Language): Promise<Speech> {
  return new Speech(language, language === "en" ? en : (await FILES[language]()).default);
}
