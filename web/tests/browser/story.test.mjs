// The story in real browsers. It needs the built pages, in LAB; CHROMIUM and FIREFOX are the browsers, either of which may
// be left out. What the figures say is written to the folder OUT, for a comparison with the command line.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import puppeteer from "puppeteer-core";
import { serve } from "./serve.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const BROWSERS = [
  [
    "chrome",
    process.env.CHROMIUM,
    ["--no-sandbox", "--disable-dev-shm-usage", "--autoplay-policy=no-user-gesture-required"],
  ],
  ["firefox", process.env.FIREFOX, []],
].filter(([, path]) => path);
const FIGURES = ["call", "house", "buffer", "codel", "fair", "wifi", "l4s"];
const LANGUAGES = ["en", "de", "es", "fr", "pt", "zh", "ja"];
const IDLE_MS = 30;
const LARGEST_BYTES = 1_200_000;

const server = await serve(process.env.LAB);
const ADDRESS = server.address;
after(() => server.close());
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

for (const [name, executablePath, args] of BROWSERS) {
  describe(name, () => {
    let browser;
    const problems = [];
    before(async () => {
      browser = await puppeteer.launch({ browser: name, executablePath, args, headless: true });
    });
    after(() => browser.close());

    async function open(path = "", { width = 1280, height = 800, media = [], fresh = false } = {}) {
      const from = fresh ? await browser.createBrowserContext() : browser;
      const page = await from.newPage();
      problems.length = 0;
      page.on("pageerror", (error) => problems.push(error.message));
      page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
      await page.setViewport({ width, height });
      if (name === "chrome" && media.length > 0) await page.emulateMediaFeatures(media);
      await page.goto(ADDRESS + path);
      return page;
    }
    const until = (page, test, ...more) => page.waitForFunction(test, { timeout: 60_000, polling: 50 }, ...more);
    const pingOf = (page) => page.$eval("[data-ping]", (found) => parseFloat(found.dataset.ping));

    /** Goes down to a figure, and waits for its numbers. */
    async function reach(page, figure) {
      // What lies above may still grow while it is loaded.
      for (let turn = 0; turn < 40; turn += 1) {
        const found = await page.$eval(`#${figure}`, (one) => {
          one.scrollIntoView();
          const rows = JSON.parse(one.dataset.rows ?? "[]");
          return {
            rows,
            scenes: JSON.parse(one.dataset.scenes ?? "[]"),
            says: one.querySelector(".says")?.textContent ?? "",
          };
        });
        if (found.rows.length > 1) return found;
        await pause(250);
      }
      assert.fail(`${figure} has no numbers`);
    }

    test("on a phone, figure 1 is on the first screen, and within 5 s its ping has doubled", async () => {
      const begun = performance.now();
      const page = await open("", { width: 360, height: 640, fresh: true });
      await until(
        page,
        (least) => parseFloat(document.querySelector("[data-ping]")?.dataset.ping) >= least,
        2 * IDLE_MS,
      );
      const tookMs = performance.now() - begun;
      assert.ok(tookMs < 5000, `it took ${tookMs} ms`);
      for (const selector of ["h1", "#call .lead", "#call canvas", "#call .switch"]) {
        const box = await page.$eval(selector, (one) => one.getBoundingClientRect().toJSON());
        assert.ok(box.top >= 0 && box.bottom <= 640, `${selector} ends at ${box.bottom}`);
        assert.ok(box.left >= 0 && box.right <= 360, `${selector} is ${box.left} to ${box.right}`);
      }
      assert.equal(await page.evaluate(() => scrollY), 0);
      assert.deepEqual(problems, []);
      await page.close();
    });

    test("the switch cures the ping at once, and the state is told in a polite region", async () => {
      const page = await open();
      await until(page, () => parseFloat(document.querySelector("[data-ping]")?.dataset.ping) > 150);
      await page.click("#call .switch button:nth-child(2)");
      await until(page, () => parseFloat(document.querySelector("[data-ping]").dataset.ping) < 60);
      const region = "#call [aria-live=polite]";
      await until(page, (where) => /Ping 3\d ms/.test(document.querySelector(where).textContent), region);
      const said = await page.$eval(region, (one) => one.textContent);
      await pause(1000);
      await page.click("#call .switch button:nth-child(1)");
      await until(page, ([where, old]) => document.querySelector(where).textContent !== old, [region, said]);
      assert.ok((await pingOf(page)) > 150);
      await page.close();
    });

    test("each figure runs, and says what its runs show", async () => {
      const page = await open();
      const all = {};
      for (const figure of FIGURES) {
        all[figure] = await reach(page, figure);
        assert.match(all[figure].says, /\d/, figure);
        assert.doesNotMatch(all[figure].says, /NaN|undefined|–|\{/, `${figure}: ${all[figure].says}`);
        const drawn = await page.$eval(`#${figure} canvas`, (canvas) => {
          const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          return data.reduce((sum, value) => sum + (value > 0 ? 1 : 0), 0) / data.length;
        });
        assert.ok(drawn > 0.005, `${figure} is empty: ${drawn}`);
      }
      await writeFile(join(process.env.OUT, `figures-${name}.json`), JSON.stringify(all));
      assert.deepEqual(problems, []);
      await page.close();
    });

    test("a control changes what its figure says", async () => {
      const page = await open();
      for (const figure of ["buffer", "codel", "fair"]) {
        const before = (await reach(page, figure)).says;
        await page.focus(`#${figure} input[type=range]`);
        await page.keyboard.press("ArrowLeft");
        await until(
          page,
          ([id, old]) => {
            const said = document.querySelector(`#${id} .says`).textContent;
            return said !== old && /\d/.test(said);
          },
          [figure, before],
        );
      }
      await reach(page, "house");
      const field = "#house .field:nth-child(2) input";
      await page.$eval(field, (input) => {
        input.value = "x";
        input.dispatchEvent(new Event("input", { bubbles: true }));
      });
      await until(page, () => document.querySelector("#house [role=alert]") !== null);
      const said = await page.$eval("#house [role=alert]", (one) => one.textContent);
      assert.equal(said, "Upload, Mbit/s is “x”, but must be a number from 0.5 to 1,000.");
      await page.$eval(field, (input) => {
        input.value = "2";
        input.dispatchEvent(new Event("input", { bubbles: true }));
      });
      await page.$eval("#home", (one) => one.scrollIntoView());
      await until(page, () => document.querySelector("#home pre").textContent.includes("upload=1800"));
      assert.deepEqual(problems, []);
      await page.close();
    });

    test("every language is whole, and fits a phone", async () => {
      for (const language of LANGUAGES) {
        const page = await open(`?lang=${language}`, { width: 360, height: 640 });
        await until(page, () => !Number.isNaN(parseFloat(document.querySelector("[data-ping]")?.dataset.ping)));
        const found = await page.evaluate(() => ({
          lang: document.documentElement.lang,
          text: document.body.innerText,
          wide: document.documentElement.scrollWidth,
          bottom: document.querySelector("#call .switch").getBoundingClientRect().bottom,
        }));
        assert.equal(found.lang, language);
        assert.doesNotMatch(found.text, /undefined|\{\w+\}/, language);
        assert.ok(found.wide <= 360, `${language}: ${found.wide}`);
        assert.ok(found.bottom <= 640, `${language}: the switch ends at ${found.bottom}`);
        await page.close();
      }
    });

    test("axe finds nothing, wide and light or narrow and dark; all that is pressed has 44 pixels", async () => {
      for (const [width, scheme] of [
        [1280, "light"],
        [360, "dark"],
      ]) {
        const media = [{ name: "prefers-color-scheme", value: scheme }];
        const page = await open("", { width, media });
        for (const figure of FIGURES) await reach(page, figure);
        await page.$$eval("details", (found) => found.forEach((one) => (one.open = true)));
        await page.evaluate(axe);
        const found = await page.evaluate(async () => {
          const { violations } = await window.axe.run();
          return violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.html.slice(0, 120)).join(" ; ")}`);
        });
        assert.deepEqual(found, []);
        const low = await page.$$eval("button, input, select, summary, a", (all) =>
          all
            .map((one) => [one.textContent || one.type, one.getBoundingClientRect().height])
            .filter(([, high]) => high < 44),
        );
        assert.deepEqual(low, []);
        await page.close();
      }
    });

    test("in a frame of 320 x 240 each figure is whole", async () => {
      const page = await open("embed.html");
      for (const figure of FIGURES) {
        await page.setContent(
          `<iframe src="${ADDRESS}embed.html#${figure}/en" width="320" height="240" style="border:0"></iframe>`,
        );
        const frame = await (await page.waitForSelector("iframe")).contentFrame();
        await frame.waitForFunction(() => (document.querySelector("canvas")?.clientHeight ?? 0) > 0);
        await pause(700);
        const found = await frame.evaluate(() => {
          const { scrollWidth, scrollHeight } = document.documentElement;
          const ends = [...document.querySelectorAll("canvas, button, input")].map((one) => {
            const { left, top, right, bottom } = one.getBoundingClientRect();
            return { what: one.textContent || one.tagName, left, top, right, bottom };
          });
          return { scrollWidth, scrollHeight, ends };
        });
        assert.ok(found.scrollWidth <= 320 && found.scrollHeight <= 240, `${figure}: ${JSON.stringify(found)}`);
        assert.ok(found.ends.length >= 3, figure);
        for (const { what, left, top, right, bottom } of found.ends) {
          const inside = left >= 0 && top >= 0 && right <= 320.5 && bottom <= 240.5;
          assert.ok(inside, `${figure}: ${what} is at ${left}, ${top} to ${right}, ${bottom}`);
        }
      }
      await page.close();
    });

    test("one script makes a web component of a figure, and a wrong name is refused", async () => {
      const page = await open("embed.html");
      await page.setContent(
        '<sojourn-figure name="l4s" lang="de"></sojourn-figure><sojourn-figure name="x"></sojourn-figure>',
      );
      await page.addScriptTag({ type: "module", url: `${ADDRESS}figure.js` });
      await until(page, () => customElements.get("sojourn-figure") !== undefined);
      const inside = await page.waitForFunction(() =>
        document.querySelector("sojourn-figure").shadowRoot.querySelector("iframe"),
      );
      const frame = await inside.contentFrame();
      await frame.waitForFunction(() => (document.querySelector("canvas")?.clientHeight ?? 0) > 0);
      assert.equal(await frame.evaluate(() => document.documentElement.lang), "de");
      const said = await page.$$eval("sojourn-figure", ([, wrong]) => wrong.shadowRoot.textContent);
      assert.equal(said, 'name is "x", but must be one of call, house, buffer, codel, fair, wifi, l4s');
      await page.close();
    });

    test("a figure is shared as PNG, SVG, CSV, video, link and code to embed", async () => {
      const page = await open();
      await reach(page, "call");
      await page.evaluate(() => {
        globalThis.blobs = [];
        const make = URL.createObjectURL.bind(URL);
        URL.createObjectURL = (blob) => {
          globalThis.blobs.push(blob);
          return make(blob);
        };
        navigator.clipboard.writeText = async (text) => void (globalThis.copied = text);
      });
      await page.$eval("#call details", (one) => (one.open = true));
      const press = (nth) => page.$eval(`#call .share .list button:nth-child(${nth})`, (one) => one.click());
      const blob = async (count) => {
        await until(page, (wanted) => globalThis.blobs.length === wanted, count);
        return page.evaluate(async () => {
          const last = globalThis.blobs.at(-1);
          const bytes = new Uint8Array(await last.arrayBuffer());
          return { type: last.type, size: bytes.length, head: [...bytes.slice(0, 12)], text: await last.text() };
        });
      };
      await press(1);
      const png = await blob(1);
      assert.deepEqual(png.head.slice(0, 8), [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
      assert.ok(png.size > 3000, `${png.size}`);
      await press(3);
      const csv = (await blob(2)).text.trim().split("\r\n");
      assert.equal(csv[0], "router,ping_mean_ms,goodput_up_mbit");
      assert.equal(csv.length, 3);
      await press(4);
      const svg = (await blob(3)).text;
      const parsed = await page.evaluate((text) => {
        const document = new DOMParser().parseFromString(text, "image/svg+xml");
        return [document.documentElement.nodeName, document.querySelectorAll("rect").length];
      }, svg);
      assert.deepEqual(parsed, ["svg", 5]);
      await press(5);
      await until(page, () => globalThis.copied !== undefined);
      assert.equal(await page.evaluate(() => globalThis.copied), `${ADDRESS}?lang=en#call`);
      await press(6);
      await until(page, () => globalThis.copied.startsWith("<iframe"));
      assert.match(await page.evaluate(() => globalThis.copied), /embed\.html#call\/en" width="320" height="240"/);
      await press(2);
      const video = await blob(4);
      assert.match(video.type, /^video\/(mp4|webm)$/);
      assert.ok(video.size > 20_000, `${video.size}`);
      const seconds = await page.evaluate(async () => {
        const element = document.createElement("video");
        element.muted = true;
        element.src = URL.createObjectURL(globalThis.blobs[3]);
        await new Promise((resolve, reject) => {
          element.onloadeddata = resolve;
          element.onerror = () => reject(new Error("the video does not play"));
        });
        return element.videoWidth;
      });
      assert.ok(seconds > 100, `the video is ${seconds} pixels wide`);
      await page.close();
    });

    test("the page stays under 1.2 MB compressed", async () => {
      server.sent.clear();
      const page = await open("", { fresh: true });
      for (const figure of FIGURES) await reach(page, figure);
      const sizes = [...server.sent].filter(([path]) => !/view|lab|LICENSES|sw\.js/.test(path));
      const size = sizes.reduce((sum, [, body]) => sum + gzipSync(body, { level: 9 }).length, 0);
      console.log(`the story, compressed: ${size} bytes`);
      assert.ok(size < LARGEST_BYTES, `${size}`);
      await page.close();
    });

    const chromeOnly = { skip: name !== "chrome" && "the driver cannot ask for it" };
    test("the first picture comes in under a second", chromeOnly, async () => {
      const times = [];
      for (let turn = 0; turn < 5; turn += 1) {
        const page = await open("", { fresh: true });
        await until(page, () => document.querySelector("[data-first]") !== null);
        times.push(await page.$eval("[data-first]", (one) => Number(one.dataset.first)));
        await page.close();
      }
      times.sort((a, b) => a - b);
      console.log(`first picture, ms: ${times.map(Math.round).join(", ")}`);
      assert.ok(times[2] < 1000, `the median of ${times}`);
    });

    test("with the processor slowed 4 times it is real time at 30 frames a second", chromeOnly, async () => {
      const page = await open("", { width: 360, height: 640, fresh: true });
      await until(page, () => !Number.isNaN(parseFloat(document.querySelector("[data-ping]")?.dataset.ping)));
      await page.emulateCPUThrottling(4);
      await pause(2000);
      const found = await page.evaluate(async () => {
        const now = () => Number(document.querySelector("[data-now]").dataset.now);
        const [begun, from] = [performance.now(), now()];
        let frames = 0;
        let last = from;
        while (performance.now() - begun < 5000) {
          await new Promise((resolve) => requestAnimationFrame(resolve));
          if (now() !== last) frames += 1;
          last = now();
        }
        const seconds = (performance.now() - begun) / 1000;
        return { pace: (now() - from) / seconds, frames: frames / seconds };
      });
      console.log(`slowed 4 times: ${found.pace.toFixed(3)} x real time, ${found.frames.toFixed(1)} frames a second`);
      assert.ok(found.pace > 0.97 && found.frames >= 30, JSON.stringify(found));
      await page.close();
    });

    test("who asks for less motion gets a still picture, and steps", chromeOnly, async () => {
      const page = await open("", { media: [{ name: "prefers-reduced-motion", value: "reduce" }] });
      await until(page, () => document.querySelector("[data-first]") !== null);
      const now = () => page.$eval("[data-now]", (one) => Number(one.dataset.now));
      const before = await now();
      await pause(600);
      assert.equal(await now(), before);
      await page.click("#call .clock button:nth-child(2)");
      await until(page, (old) => Number(document.querySelector("[data-now]").dataset.now) > old, before);
      await page.close();
    });

    test("once loaded it works without a network", chromeOnly, async () => {
      const page = await open("", { fresh: true });
      await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
      await page.setOfflineMode(true);
      await page.goto(ADDRESS);
      await until(page, () => parseFloat(document.querySelector("[data-ping]")?.dataset.ping) > 60);
      await page.close();
    });
  });
}
