import type { Language } from "../texts/texts";
import type { FigureName } from "./scenes";

// What leaves the page when a reader asks for it: a chart, a video, a link, and code for another page.

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/** Bars of the numbers of the rows, each column by itself, with the sentence below. */
export function chartOf(rows: (string | number)[][], says: string): string {
  const [names = [], ...all] = rows;
  const columns = names.map((_, i) => i).filter((i) => all.every((row) => typeof row[i] === "number"));
  const label = (row: (string | number)[]): string =>
    row.filter((_, i) => !columns.includes(i)).join(" ") || String(row[0]);
  const parts: string[] = [];
  let y = 10;
  for (const column of columns) {
    const most = Math.max(...all.map((row) => Number(row[column])), 1e-9);
    parts.push(`<text x="10" y="${(y += 16)}" font-weight="700">${escaped(String(names[column]))}</text>`);
    for (const row of all) {
      const value = Number(row[column]);
      y += 24;
      parts.push(`<text x="10" y="${y}">${escaped(label(row))}</text>`);
      parts.push(
        `<rect x="150" y="${y - 13}" width="${((330 * value) / most).toFixed(1)}" height="16" fill="#0072b2"/>`,
      );
      parts.push(`<text x="490" y="${y}">${Number(value.toPrecision(4))}</text>`);
    }
    y += 16;
  }
  const words = says.split(" ");
  let line = "";
  for (const word of [...words, ""]) {
    if (word !== "" && `${line} ${word}`.length < 82) {
      line = `${line} ${word}`.trim();
      continue;
    }
    parts.push(`<text x="10" y="${(y += 18)}">${escaped(line)}</text>`);
    line = word;
  }
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="600" height="${y + 14}" viewBox="0 0 600 ${y + 14}" ` +
    `font-family="system-ui, sans-serif" font-size="13"><rect width="100%" height="100%" fill="#fff"/>${parts.join("")}</svg>\n`
  );
}

/** Kinds of video that browsers make, the one first that most programs open. */
const VIDEOS = ["video/mp4;codecs=avc1.42E01F", "video/mp4", "video/webm;codecs=vp9", "video/webm"];

/** A video of what a canvas shows for so many seconds. */
export async function videoOf(canvas: HTMLCanvasElement, seconds: number): Promise<{ blob: Blob; ending: string }> {
  const type = VIDEOS.find((one) => MediaRecorder.isTypeSupported(one));
  if (type === undefined) throw new Error("this browser makes no video");
  const stream = canvas.captureStream(30);
  const recorder = new MediaRecorder(stream, { mimeType: type, videoBitsPerSecond: 2_500_000 });
  const parts: Blob[] = [];
  recorder.addEventListener("dataavailable", (event) => parts.push(event.data));
  const over = new Promise<void>((resolve, reject) => {
    recorder.addEventListener("stop", () => resolve());
    recorder.addEventListener("error", () => reject(new Error("the browser gave up")));
  });
  recorder.start();
  setTimeout(() => recorder.stop(), 1000 * seconds);
  await over;
  for (const track of stream.getTracks()) track.stop();
  const blob = new Blob(parts, { type: type.split(";", 1)[0] ?? type });
  return { blob, ending: type.startsWith("video/mp4") ? "mp4" : "webm" };
}

/** The address of a figure in the story. */
export function linkOf(name: FigureName, language: Language): string {
  const url = new URL("./", location.href);
  url.searchParams.set("lang", language);
  url.hash = name;
  return url.href;
}

/** The code that shows a figure in another page. */
export function embedOf(name: FigureName, language: Language): string {
  const url = new URL("embed.html", location.href);
  url.search = "";
  url.hash = `${name}/${language}`;
  return `<iframe src="${escaped(url.href)}" width="320" height="240" style="border:0" loading="lazy" title="Bufferbloat"></iframe>`;
}
