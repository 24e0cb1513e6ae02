import type { Scenario } from "../../engine/protocol";

// A link to the page that holds a whole scenario: "#1." and the scenario's JSON, compressed, in base64 for URLs. So what
// the form cannot express is in the link too.

const VERSION = "1.";
/** A link longer than this is refused before it is unpacked, and so is one that unpacks to more than `LARGEST`. */
const LONGEST = 65_536;
const LARGEST = 1_048_576;

/** A sentence about a link that holds no scenario. */
export class BadLink extends Error {}

export async function toHash(scenario: Scenario): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(scenario));
  const packed = await collect(new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate-raw")), Infinity);
  let binary = "";
  for (const byte of packed) binary += String.fromCharCode(byte);
  return `#${VERSION}${btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

export async function fromHash(hash: string): Promise<Scenario> {
  if (!hash.startsWith(`#${VERSION}`)) throw new BadLink(`The link must begin with "#${VERSION}" to hold a scenario.`);
  if (hash.length > LONGEST) {
    throw new BadLink(`The link has ${hash.length} characters, but at most ${LONGEST} are read.`);
  }
  const body = hash.slice(VERSION.length + 1);
  if (!/^[A-Za-z0-9_-]+$/.test(body)) {
    throw new BadLink("The link holds characters that are not of base64 for URLs: it was not copied whole.");
  }
  const value = parse(await unpack(body));
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new BadLink("The link holds a value that is not an object, but a scenario is one.");
  }
  return value as Scenario;
}

async function unpack(body: string): Promise<Uint8Array> {
  try {
    const binary = atob(body.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
    return await collect(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw")), LARGEST);
  } catch (error) {
    if (error instanceof BadLink) throw error;
    throw new BadLink("The link cannot be unpacked: it was not copied whole.");
  }
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new BadLink("The link does not hold JSON: it was not made by this page.");
  }
}

async function collect(stream: ReadableStream<Uint8Array>, most: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let total = 0;
  const reader = stream.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    total += next.value.length;
    if (total > most) {
      await reader.cancel();
      throw new BadLink(`The link unpacks to more than ${most} bytes, but a scenario has at most so many.`);
    }
    parts.push(next.value);
  }
  const all = new Uint8Array(total);
  let offset = 0;
  for (const part of parts) {
    all.set(part, offset);
    offset += part.length;
  }
  return all;
}
