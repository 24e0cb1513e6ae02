// lab-frames.mjs FOLDER CHROMIUM: how soon the built laboratory shows something, and how smoothly it draws. It is a
// measurement, not a test: numbers are of this machine. It prints one line of JSON for each case.
import puppeteer from "puppeteer-core";
import { serve } from "./serve.mjs";

const [folder, executablePath] = process.argv.slice(2);
if (executablePath === undefined) throw new Error("usage: lab-frames.mjs FOLDER CHROMIUM");
const SECONDS = 10;

const server = await serve(folder);
const address = `${server.address}lab.html`;
const browser = await puppeteer.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });

async function open() {
  // Each page has a store of its own, so nothing comes from a cache.
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  await page.setViewport({ width: 1280, height: 900 });
  await page.evaluateOnNewDocument(() => {
    globalThis.long = [];
    new PerformanceObserver((list) => globalThis.long.push(...list.getEntries().map((one) => one.duration))).observe({
      type: "longtask",
      buffered: true,
    });
  });
  await page.goto(address);
  return page;
}

/** When something was painted first, and when the canvas of a queue first had a drawn pixel, ms after the navigation. */
async function first() {
  const page = await open();
  await page.waitForFunction(() => {
    const canvas = document.querySelector("canvas");
    if (!canvas?.width || !canvas.height) return false;
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    if (!data.some((value) => value > 0)) return false;
    globalThis.queueMs ??= performance.now();
    return true;
  });
  const found = await page.evaluate(() => ({
    firstContentfulPaintMs: Math.round(performance.getEntriesByName("first-contentful-paint")[0].startTime),
    firstQueueMs: Math.round(globalThis.queueMs),
  }));
  await page.close();
  return found;
}

/** How the frames follow each other in a step of the tour, at a speed, and how many packets are in its queues. */
async function frames(step, speed) {
  const page = await open();
  await page.waitForSelector("canvas");
  await page.click(`.tour .steps button:nth-child(${step})`);
  await page.waitForFunction(() => parseFloat(document.querySelector(".clock").textContent) > 3);
  await page.$eval(
    ".controls select",
    (select, wanted) => {
      select.selectedIndex = [...select.options].findIndex((one) => one.textContent.startsWith(wanted));
      select.dispatchEvent(new Event("change", { bubbles: true }));
    },
    speed,
  );
  const found = await page.evaluate(async (seconds) => {
    globalThis.long.length = 0;
    const [times, packets] = [[], []];
    const begun = performance.now();
    while (performance.now() - begun < 1000 * seconds) {
      times.push(await new Promise((resolve) => requestAnimationFrame(resolve)));
      const counts = [...document.querySelectorAll(".numbers")].map((one) => parseInt(one.textContent, 10));
      packets.push(counts.reduce((sum, count) => sum + count, 0));
    }
    const gaps = times.slice(1).map((time, i) => time - times[i]);
    const sorted = [...gaps].sort((a, b) => a - b);
    const at = (share) => Number(sorted[Math.floor(share * (sorted.length - 1))].toFixed(1));
    return {
      framesPerSecond: Number((gaps.length / ((times.at(-1) - times[0]) / 1000)).toFixed(1)),
      medianMs: at(0.5),
      p95Ms: at(0.95),
      longestMs: at(1),
      longTasks: globalThis.long.length,
      longestTaskMs: Math.max(0, ...globalThis.long),
      meanPackets: Math.round(packets.reduce((sum, count) => sum + count, 0) / packets.length),
      clock: document.querySelector(".clock").textContent,
    };
  }, SECONDS);
  await page.close();
  return found;
}

// The browser itself starts slowly, so the first page does not count.
await first();
const all = [];
for (let i = 0; i < 7; i += 1) all.push(await first());
const median = (name) => all.map((one) => one[name]).sort((a, b) => a - b)[3];
console.log(
  JSON.stringify({ firstContentfulPaintMs: median("firstContentfulPaintMs"), firstQueueMs: median("firstQueueMs") }),
);
for (const [step, speed] of [
  [1, "1 "],
  [2, "1 "],
  [3, "1 "],
  [2, "0.01"],
]) {
  console.log(JSON.stringify({ step, speed: speed.trim(), ...(await frames(step, speed)) }));
}
await browser.close();
server.close();
