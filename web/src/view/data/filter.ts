// The filter of the table: words, and conditions on columns.
//
//   fq_codel                        some text of the run holds this
//   rtt_p95_ms>50 qdisc=codel       both; operators are = != < <= > >= and ~ (holds the text)
//   up>100mbit rtt=0.1s             rates and times are compared as what they are
//   link=10/1 or (seed<5 -pfifo)    either; a minus or `not` turns a condition around
//   "two words"                     one text
import type { Column, Columns, NumberColumn, TextColumn } from "./columns";
import { quantityOf, valueOf } from "./quantity";

/** A filter that cannot be understood: one sentence. */
export class FilterError extends Error {}

type Test = (row: number) => boolean;

interface Token {
  kind: "word" | "operator" | "open" | "close" | "minus";
  text: string;
  quoted: boolean;
}

const OPERATORS = ["!=", "<=", ">=", "=", "<", ">", "~"];
const MOST_CHARACTERS = 2000;

function tokens(text: string): Token[] {
  if (text.length > MOST_CHARACTERS) throw new FilterError(`A filter has at most ${MOST_CHARACTERS} characters.`);
  const found: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const rest = text.slice(at);
    const operator = OPERATORS.find((each) => rest.startsWith(each));
    const first = rest[0] as string;
    if (/\s/.test(first)) {
      at += 1;
    } else if (first === "(" || first === ")") {
      found.push({ kind: first === "(" ? "open" : "close", text: first, quoted: false });
      at += 1;
    } else if (operator !== undefined) {
      found.push({ kind: "operator", text: operator, quoted: false });
      at += operator.length;
    } else if (first === '"') {
      const end = text.indexOf('"', at + 1);
      if (end < 0) throw new FilterError("A quotation mark has no partner.");
      found.push({ kind: "word", text: text.slice(at + 1, end), quoted: true });
      at = end + 1;
    } else if (first === "-" && found.at(-1)?.kind !== "operator") {
      found.push({ kind: "minus", text: "-", quoted: false });
      at += 1;
    } else {
      const word = /^[^\s()"=<>~!]+/.exec(rest)?.[0] ?? first;
      found.push({ kind: "word", text: word, quoted: false });
      at += word.length;
    }
  }
  return found;
}

class Reader {
  private at = 0;

  constructor(
    private readonly all: Token[],
    private readonly columns: Columns,
  ) {}

  whole(): Test {
    const test = this.either();
    const left = this.all[this.at];
    if (left !== undefined) throw new FilterError(`The filter has “${left.text}” where nothing was expected.`);
    return test;
  }

  private isWord(text: string): boolean {
    const token = this.all[this.at];
    return token?.kind === "word" && !token.quoted && token.text.toLowerCase() === text;
  }

  private either(): Test {
    const parts = [this.every()];
    while (this.isWord("or")) {
      this.at += 1;
      parts.push(this.every());
    }
    return parts.length === 1 ? (parts[0] as Test) : (row) => parts.some((part) => part(row));
  }

  private every(): Test {
    const parts: Test[] = [];
    for (;;) {
      if (this.isWord("and")) this.at += 1;
      const token = this.all[this.at];
      if (token === undefined || token.kind === "close" || this.isWord("or")) break;
      parts.push(this.one());
    }
    if (parts.length === 0) throw new FilterError("A condition is missing beside “or” or within parentheses.");
    return (row) => parts.every((part) => part(row));
  }

  private one(): Test {
    const token = this.all[this.at] as Token;
    if (token.kind === "minus" || this.isWord("not")) {
      this.at += 1;
      if (this.all[this.at] === undefined) throw new FilterError(`Nothing stands behind “${token.text}”.`);
      const inner = this.one();
      return (row) => !inner(row);
    }
    if (token.kind === "open") {
      this.at += 1;
      const inner = this.either();
      if (this.all[this.at]?.kind !== "close") throw new FilterError("A parenthesis has no partner.");
      this.at += 1;
      return inner;
    }
    if (token.kind !== "word") throw new FilterError(`The name of a column is missing before “${token.text}”.`);
    this.at += 1;
    const operator = this.all[this.at];
    if (operator?.kind !== "operator") return anywhere(this.columns, token.text);
    this.at += 1;
    const value = this.all[this.at];
    if (value?.kind !== "word") throw new FilterError(`A value is missing behind “${token.text}${operator.text}”.`);
    this.at += 1;
    const column = this.columns.byName.get(token.text);
    if (column === undefined) throw new FilterError(`There is no column “${token.text}”.`);
    return condition(column, operator.text, value.text);
  }
}

/** Some text column holds this. Each different text is looked at once, not once for each run. */
function anywhere(columns: Columns, text: string): Test {
  const small = text.toLowerCase();
  const hits: { places: Uint32Array; holds: Uint8Array }[] = [];
  for (const column of columns.byName.values()) {
    // The name of a run is a hash, in which any digits may stand, and claims are of others: both have their columns.
    if (column.kind !== "text" || column.name === "id" || column.name === "claims") continue;
    const holds = Uint8Array.from(column.small, (word) => Number(word.includes(small)));
    if (holds.includes(1)) hits.push({ places: column.places, holds });
  }
  return (row) => hits.some((hit) => hit.holds[hit.places[row] as number] === 1);
}

function condition(column: Column, operator: string, value: string): Test {
  const such = operator === "~" ? undefined : quantityOf(column.name);
  if (column.kind === "text" && such !== undefined) {
    const bound = valueOf(column.name, value);
    if (Number.isNaN(bound)) throw new FilterError(`${column.name} is compared with ${such}, which “${value}” is not.`);
    const ofWords = Float64Array.from(column.words, (word) => valueOf(column.name, word));
    const judge = ofNumber({ kind: "number", name: column.name, values: ofWords }, operator, String(bound));
    return (row) => judge(column.places[row] as number);
  }
  return column.kind === "text" ? ofText(column, operator, value) : ofNumber(column, operator, value);
}

function ofText(column: TextColumn, operator: string, value: string): Test {
  const small = value.toLowerCase();
  const compare = new Intl.Collator("en", { numeric: true }).compare;
  const judge = (word: string): boolean => {
    const order = compare(word, small);
    if (operator === "=") return word === small;
    if (operator === "!=") return word !== small;
    if (operator === "~") return word.includes(small);
    if (operator === "<") return order < 0;
    if (operator === "<=") return order <= 0;
    return operator === ">" ? order > 0 : order >= 0;
  };
  const right = Uint8Array.from(column.small, (word) => Number(judge(word)));
  return (row) => right[column.places[row] as number] === 1;
}

function ofNumber(column: NumberColumn, operator: string, value: string): Test {
  const { values, name } = column;
  const bound = value.trim() === "" ? NaN : Number(value);
  if (Number.isNaN(bound)) throw new FilterError(`“${value}” is no number, but ${name} is compared with numbers.`);
  // A value that is not there meets no condition but `!=`.
  if (operator === "=") return (row) => values[row] === bound;
  if (operator === "!=") return (row) => values[row] !== bound;
  if (operator === "<") return (row) => (values[row] as number) < bound;
  if (operator === "<=") return (row) => (values[row] as number) <= bound;
  if (operator === ">") return (row) => (values[row] as number) > bound;
  if (operator === ">=") return (row) => (values[row] as number) >= bound;
  throw new FilterError(`“~” is for texts, but ${name} is a number.`);
}

/** The rows that a filter keeps, in their order. */
export function filtered(columns: Columns, text: string): Uint32Array {
  const all = tokens(text);
  const rows = new Uint32Array(columns.rows);
  if (all.length === 0) return rows.map((_, row) => row);
  const test = new Reader(all, columns).whole();
  let kept = 0;
  for (let row = 0; row < columns.rows; row += 1) {
    if (test(row)) {
      rows[kept] = row;
      kept += 1;
    }
  }
  return rows.slice(0, kept);
}
