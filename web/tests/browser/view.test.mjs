// The dashboard in real browsers. It needs `sojourn view` and the built page: SOJOURN is the command (words of JSON),
// VIEW_STORE a folder of good results, VIEW_BOTH one with it and a study in it, VIEW_HOSTILE one with broken runs and HTML
// in names, VIEW_REPORT and VIEW_STUDY the reports of results and study; CHROMIUM and FIREFOX are the browsers, either of which may be left out.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, describe, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import puppeteer from "puppeteer-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const [command, ...words] = JSON.parse(process.env.SOJOURN ?? '["sojourn"]');
const BROWSERS = [
  ["chrome", process.env.CHROMIUM, ["--no-sandbox", "--disable-dev-shm-usage"]],
  ["firefox", process.env.FIREFOX, []],
].filter(([, path]) => path);

/** Starts `sojourn view`; answers its address and what ends it. */
async function serve(folder) {
  const child = spawn(command, [...words, "view", folder, "--no-browser"], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((resolve) => child.on("exit", resolve));
  const address = await new Promise((resolve, reject) => {
    let text = "";
    child.stdout.on("data", (part) => {
      text += part;
      if (text.includes("\n")) resolve(text.trim());
    });
    child.on("exit", () => reject(new Error("sojourn view has ended")));
  });
  const stop = async () => {
    child.kill("SIGINT");
    await ended;
  };
  return { address, stop };
}

const GOOD = await serve(process.env.VIEW_STORE);
const BOTH = await serve(process.env.VIEW_BOTH);
const HOSTILE = await serve(process.env.VIEW_HOSTILE);
after(async () => {
  await GOOD.stop();
  await BOTH.stop();
  await HOSTILE.stop();
});

for (const [name, executablePath, args] of BROWSERS) {
  describe(name, () => {
    let browser;
    const problems = [];

    before(async () => {
      browser = await puppeteer.launch({ browser: name, executablePath, args, headless: true });
    });
    after(() => browser.close());

    async function open(address) {
      const page = await browser.newPage();
      problems.length = 0;
      page.on("pageerror", (error) => problems.push(error.message));
      page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
      page.on("dialog", (dialog) => {
        problems.push("a dialog was opened");
        void dialog.dismiss();
      });
      await page.setViewport({ width: 1280, height: 900 });
      await page.goto(address);
      return page;
    }

    const texts = (page, selector) =>
      page.$$eval(selector, (found) => found.map((each) => each.textContent.replace(/\s+/g, " ").trim()));

    async function filter(page, text) {
      await page.$eval(
        "input[type=search]",
        (input, value) => {
          input.value = value;
          input.dispatchEvent(new Event("input", { bubbles: true }));
        },
        text,
      );
    }

    const says = (page, part) =>
      page.waitForFunction((words) => document.querySelector("#filter-says")?.textContent.includes(words), {}, part);

    async function accessible(page, where) {
      // The page's policy forbids scripts of others, so axe comes by way of the browser.
      await page.evaluate(axe);
      const found = await page.evaluate(() => globalThis.axe.run(document));
      const violations = found.violations.map((each) => `${each.id}: ${each.nodes.map((node) => node.html).join(" ")}`);
      assert.deepEqual(violations, [], where);
    }

    test("the table is filtered and sorted, and the token leaves the address", async () => {
      const page = await open(GOOD.address);
      await page.waitForSelector("tbody td");
      assert.ok(!page.url().includes("token"));
      await says(page, "4 of 4 runs");
      await filter(page, "qdisc=fq_codel");
      await says(page, "2 of 4 runs");
      await filter(page, "seed>1 -fq_codel");
      await says(page, "1 of 4 runs");
      await filter(page, "no_such_column>1");
      await says(page, "There is no column");
      await filter(page, "");
      await says(page, "4 of 4 runs");
      await page.click("th button[title=induced_latency_ms]");
      await page.waitForSelector("th[aria-sort=ascending]");
      const place = (await texts(page, "thead th button")).findIndex((each) => each.startsWith("Induced latency")) + 2;
      const latency = (await texts(page, `tbody tr td:nth-child(${place})`)).map(Number);
      assert.equal(latency.length, 4);
      assert.deepEqual(
        latency,
        [...latency].sort((a, b) => a - b),
      );
      assert.deepEqual(problems, []);
      await page.close();
    });

    test("an address restores filter, order, selection and zoom, and the table is a CSV", async () => {
      const page = await open(GOOD.address);
      await page.waitForSelector("tbody td");
      await filter(page, "qdisc=fq_codel");
      await says(page, "2 of 4 runs");
      await page.click("th button[title=induced_latency_ms]");
      await page.click("th button[title=induced_latency_ms]");
      await page.waitForSelector("th[aria-sort=descending]");
      await page.evaluate(() => {
        const make = URL.createObjectURL.bind(URL);
        URL.createObjectURL = (blob) => make((globalThis.file = blob));
        [...document.querySelectorAll("button")].find((one) => one.textContent.trim() === "CSV").click();
      });
      const csv = (await page.evaluate(() => globalThis.file.text())).trim().split("\r\n");
      assert.equal(csv.length, 3);
      assert.ok(csv[0].split(",").includes("induced_latency_ms"), csv[0]);
      await page.$eval("td.pick input", (input) => input.click());
      await says(page, "1 selected");
      await page.click("#tab-plots");
      await page.waitForSelector(".chart-area");
      await page.focus(".chart-area");
      await page.keyboard.press("+");
      await page.waitForFunction(() => location.hash.includes("zoom="));
      const hash = await page.evaluate(() => location.hash);
      const other = await open(GOOD.address.replace(/#.*/, "") + hash);
      await other.waitForSelector(".chart-area canvas");
      await new Promise((resolve) => setTimeout(resolve, 500));
      assert.equal(await other.evaluate(() => location.hash), hash);
      await other.click("#tab-runs");
      await says(other, "2 of 4 runs");
      await says(other, "1 selected");
      await other.waitForSelector("th[aria-sort=descending] button[title=induced_latency_ms]");
      assert.deepEqual(problems, []);
      await other.close();
      await page.close();
    });

    test("the keyboard selects runs, and their lines are drawn and zoomed", async () => {
      const page = await open(GOOD.address);
      await page.waitForSelector("tbody td");
      await page.focus("td.pick input");
      await page.keyboard.press(" ");
      await says(page, "1 selected");
      await page.focus("#tab-runs");
      await page.keyboard.press("ArrowRight");
      await page.waitForSelector("[role=tab][id=tab-plots][aria-selected=true]");
      await page.waitForFunction(() => document.querySelectorAll(".chart canvas").length === 2);
      // Something is drawn, in more than one colour.
      const colours = await page.$eval(".chart canvas", (canvas) => {
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        const found = new Set();
        for (let at = 0; at < data.length; at += 4) if (data[at + 3] > 200) found.add(data.slice(at, at + 3).join());
        return found.size;
      });
      assert.ok(colours > 3, `${colours} colours`);
      const looks = () => page.$eval(".chart canvas", (canvas) => canvas.toDataURL());
      const whole = await looks();
      await page.focus(".chart-area");
      await page.keyboard.press("+");
      await page.waitForFunction((before) => document.querySelector(".chart canvas").toDataURL() !== before, {}, whole);
      await page.keyboard.press("0");
      await page.waitForFunction((before) => document.querySelector(".chart canvas").toDataURL() === before, {}, whole);
      assert.equal(await page.$$eval("svg path", (found) => found.length), 2);
      assert.deepEqual(problems, []);
      await page.close();
    });

    test("no view breaks a rule of axe, in either theme and at any width", async () => {
      const page = await open(BOTH.address);
      await page.waitForSelector("tbody td");
      await page.click("td.pick input");
      for (const [theme, width] of [
        ["light", 1280],
        ["dark", 360],
      ]) {
        await page.setViewport({ width, height: 900 });
        await page.select(".theme select", theme);
        for (const tab of ["runs", "plots", "groups", "comparison", "claims", "progress"]) {
          await page.click(`#tab-${tab}`);
          await page.waitForFunction((id) => document.querySelector(id).ariaSelected === "true", {}, `#tab-${tab}`);
          if (tab === "plots") await page.waitForSelector(".chart canvas");
          if (tab === "comparison") await page.waitForSelector("#means-title");
          await accessible(page, `${tab}, ${theme}, ${width}`);
          const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
          assert.ok(over <= 0, `${tab} is ${over} px wider than ${width}`);
        }
      }
      assert.deepEqual(problems, []);
      await page.close();
    });

    /** What the last file holds that a click on a button saves. */
    const saved = (page, selector, word) =>
      page.evaluate(
        (where, text) => {
          const make = URL.createObjectURL.bind(URL);
          URL.createObjectURL = (blob) => make((globalThis.file = blob));
          [...document.querySelectorAll(where)].find((one) => one.textContent.trim() === text).click();
          URL.createObjectURL = make;
          return globalThis.file.text();
        },
        selector,
        word,
      );

    test("plots are saved as SVG and CSV", async () => {
      const page = await open(GOOD.address);
      await page.waitForSelector("tbody td");
      await page.click("td.pick input");
      await page.click("#tab-plots");
      await page.waitForSelector(".chart canvas");
      await page.waitForSelector("svg path");
      for (const [title, lines] of [
        ["course-title", 1],
        ["spread-title", 1],
        ["ellipse-title", 2],
      ]) {
        const svg = await saved(page, `[aria-labelledby=${title}] button`, "SVG");
        const drawn = await page.evaluate((text) => {
          const parsed = new DOMParser().parseFromString(text, "image/svg+xml");
          return [parsed.documentElement.tagName, parsed.querySelectorAll("path[d^=M][fill]").length];
        }, svg);
        assert.deepEqual(drawn, ["svg", lines], title);
        assert.doesNotMatch(svg, /NaN|var\(/);
      }
      const csv = await saved(page, "[aria-labelledby=course-title] button", "CSV");
      assert.match(csv, /^line,Time since the flows started \(s\),Round-trip time \(ms\)\r\n.*,-?[\d.]+,[\d.]+\r\n/);
      assert.deepEqual(problems, []);
      await page.close();
    });

    test("runs are grouped by any key, and a mean leads to its runs", async () => {
      const page = await open(BOTH.address);
      await page.waitForSelector("tbody td");
      await page.click("#tab-groups");
      await page.waitForSelector("table.heat td button");
      assert.deepEqual(await texts(page, "table.heat thead th"), ["Discipline", "good", "study"]);
      assert.equal((await texts(page, "table.heat td button")).length, 4);
      await page.select("#panel .tools label:nth-child(2) select", "");
      await page.waitForFunction(() => document.querySelectorAll("table.heat td").length === 2);
      assert.match(await page.$eval("#panel", (one) => one.textContent), /pools what differs in: Folder/);
      assert.match(await page.evaluate(() => location.hash), /group=qdisc/);
      await page.click("table.heat td button");
      await says(page, "4 of 8 runs");
      assert.deepEqual(problems, []);
      await page.close();
    });

    test("a claim leads to its runs, and two folders are compared seed by seed", async () => {
      const page = await open(BOTH.address);
      await page.waitForSelector("tbody td");
      await page.click("#tab-claims");
      await page.waitForSelector(".claims button");
      assert.deepEqual(await texts(page, ".claims button"), ["Its 2 runs"]);
      await page.click(".claims button");
      await says(page, "2 of 8 runs");
      await page.click("#tab-comparison");
      await page.waitForSelector("#means-title");
      await page.select("#panel .tools label:nth-child(2) select", "1");
      await page.waitForFunction(
        () => document.querySelectorAll("[aria-labelledby=means-title] tbody th").length === 4,
      );
      const named = await texts(page, "[aria-labelledby=means-title] tbody th");
      assert.deepEqual(named, ["fq_codel (good)", "fq_codel (study)", "pfifo_fast (good)", "pfifo_fast (study)"]);
      await page.waitForSelector("#pairs-title");
      assert.deepEqual(problems, []);
      await page.close();
    });

    test("a run is opened in the laboratory, and back is the run's state", async (t) => {
      const page = await open(GOOD.address);
      await page.waitForSelector("tbody td");
      await filter(page, "fq_codel seed=2");
      await says(page, "1 of 4 runs");
      await page.click("tbody button.quiet");
      await page.waitForFunction(() => document.querySelector("dialog[open] pre")?.textContent.includes('"scenario"'));
      const toml = await saved(page, "dialog button", "TOML for sojourn run");
      assert.match(toml, /^qdisc_up = "fq_codel/m);
      if (!(await page.evaluate(() => fetch("api/about").then((found) => found.json()))).lab) {
        t.skip("the laboratory was not built");
        return;
      }
      await page.waitForSelector("dialog a[href^='lab.html#1.']");
      await page.click("dialog a");
      await page.waitForFunction(() => document.querySelectorAll("canvas").length > 1);
      await page.waitForFunction(() => document.body.textContent.includes("fq_codel"));
      assert.deepEqual(problems, []);
      await page.evaluate(() => history.back());
      await says(page, "1 of 4 runs");
      await page.close();
    });

    test("a record is shown, and Escape closes it", async () => {
      const page = await open(GOOD.address);
      await page.waitForSelector("tbody td");
      await page.click("button.quiet");
      await page.waitForFunction(() => document.querySelector("dialog[open] pre")?.textContent.includes('"scenario"'));
      await page.keyboard.press("Escape");
      await page.waitForFunction(() => document.querySelector("dialog") === null);
      await page.close();
    });

    test("a hostile store injects nothing, and its broken runs are listed", async () => {
      const page = await open(HOSTILE.address);
      await page.waitForSelector("tbody td");
      await says(page, "1 of 1 runs");
      assert.ok((await texts(page, "tbody td")).some((text) => text.includes("<img src=x")));
      await page.click("td.pick input");
      for (const tab of ["plots", "groups", "comparison", "claims", "progress"]) {
        await page.click(`#tab-${tab}`);
        if (tab === "plots") await page.waitForSelector(".chart canvas");
        if (tab === "comparison") await page.waitForSelector("#means-title");
        if (tab === "claims") await page.waitForSelector(".claims li");
        if (tab === "progress") await page.waitForSelector("#broken-title");
        assert.equal(await page.$$eval("img, main b, main script", (found) => found.length), 0, tab);
      }
      assert.match(await page.$eval("#broken-title", (title) => title.textContent), /Cannot be read: 5/);
      assert.doesNotMatch(await page.title(), /^1$/);
      assert.deepEqual(problems, []);
      await page.close();
    });

    test("without the token there is no page", async () => {
      const context = await browser.createBrowserContext();
      const page = await context.newPage();
      const answer = await page.goto(new URL("/", GOOD.address).href);
      assert.equal(answer.status(), 401);
      assert.match(await page.evaluate(() => document.body.textContent), /token is missing/);
      await context.close();
    });

    test("the report's plots are drawn from one file, and nothing is fetched", async () => {
      const page = await open("about:blank");
      const asked = [];
      page.on("request", (request) => asked.push(request.url()));
      const address = pathToFileURL(process.env.VIEW_REPORT).href;
      await page.goto(address);
      await page.evaluate(() => document.querySelectorAll("details").forEach((each) => (each.open = true)));
      await page.waitForFunction(() => document.querySelectorAll("figure[data-plot] canvas").length === 4);
      assert.equal(await page.$$eval("figure[data-plot] img", (found) => found.length), 0);
      assert.deepEqual(
        asked.filter((url) => url !== address && !url.startsWith("data:")),
        [],
      );
      assert.deepEqual(problems, []);
      await page.close();
    });

    test("a report begins with its result in either theme, and a claim leads to its runs", async () => {
      const page = await open(pathToFileURL(process.env.VIEW_STUDY).href);
      const first = await texts(page, "main > *:nth-child(-n + 2)");
      assert.match(first.join(": "), /^Two disciplines: “FQ-CoDel carries something” holds: [\d.]+ \[[\d., ]+\]\.$/);
      const links = await page.$$eval(".runs a", (found) => found.map((each) => each.href));
      assert.equal(links.length, 2);
      assert.ok(links.every((link) => existsSync(fileURLToPath(link))));
      for (const address of [process.env.VIEW_STUDY, process.env.VIEW_REPORT]) {
        for (const [theme, width] of [
          ["light", 1280],
          ["dark", 360],
        ]) {
          await page.setViewport({ width, height: 800 });
          if (name === "chrome") await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
          await page.goto(pathToFileURL(address).href);
          const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
          assert.ok(over <= 0, `${address} is ${over} px wider than ${width}`);
          await accessible(page, `${address}, ${theme}, ${width}`);
        }
      }
      if (name === "chrome") {
        const paper = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
        assert.equal(paper, "rgb(18, 20, 23)");
      }
      await page.close();
    });
  });
}
