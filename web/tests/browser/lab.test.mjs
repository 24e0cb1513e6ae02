// The laboratory in real browsers. It needs the built page, in LAB; CHROMIUM and FIREFOX are the browsers, either of which
// may be left out.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, describe, test } from "node:test";
import puppeteer from "puppeteer-core";
import { serve } from "./serve.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const BROWSERS = [
  ["chrome", process.env.CHROMIUM, ["--no-sandbox", "--disable-dev-shm-usage"]],
  ["firefox", process.env.FIREFOX, []],
].filter(([, path]) => path);

const server = await serve(process.env.LAB);
const ADDRESS = `${server.address}lab.html`;
after(() => server.close());

for (const [name, executablePath, args] of BROWSERS) {
  describe(name, () => {
    let browser;
    const problems = [];
    before(async () => {
      browser = await puppeteer.launch({ browser: name, executablePath, args, headless: true });
    });
    after(() => browser.close());

    async function open(address, width = 1280, scheme = "light") {
      const page = await browser.newPage();
      problems.length = 0;
      page.on("pageerror", (error) => problems.push(error.message));
      page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
      await page.setViewport({ width, height: 900 });
      if (name === "chrome") await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
      await page.goto(address);
      return page;
    }
    const text = (page, selector) => page.$eval(selector, (found) => found.textContent.replace(/\s+/g, " ").trim());
    const clock = async (page) => parseFloat(await text(page, ".clock"));
    const toml = (page) => text(page, "pre.toml");
    const until = (page, test, ...more) => page.waitForFunction(test, { timeout: 60_000, polling: 50 }, ...more);
    /** Presses the button of this name, which may still be to come: `Pause` is there once a run has been loaded. */
    async function press(page, label) {
      await until(
        page,
        (wanted) => {
          const found = [...document.querySelectorAll("button")].find((one) => one.textContent.trim() === wanted);
          found?.click();
          return found !== undefined;
        },
        label,
      );
    }
    const past = (page, seconds) =>
      until(page, (least) => parseFloat(document.querySelector(".clock").textContent) >= least, seconds);
    async function fast(page) {
      await page.select(".controls select", "Infinity").catch(() => undefined);
      await page.$eval(".controls select", (select) => {
        select.selectedIndex = select.options.length - 1;
        select.dispatchEvent(new Event("change", { bubbles: true }));
      });
    }

    test("the tour goes through its steps, and says what the runs show", async () => {
      const page = await open(ADDRESS);
      const steps = await page.$$eval(".tour .steps button", (found) => found.map((one) => one.textContent.trim()));
      assert.equal(steps.length, 6);
      for (const step of steps) {
        await press(page, step);
        await until(page, (wanted) => document.querySelector(".tour h2").textContent.includes(wanted), step.slice(3));
        await fast(page);
        await past(page, 4);
        const said = await text(page, ".says");
        assert.match(said, /\d/, step);
        assert.doesNotMatch(said, /NaN|undefined|–/, `${step}: ${said}`);
      }
      assert.deepEqual(problems, []);
      await page.close();
    });

    test("a FIFO makes pings wait, and CoDel beside it does not", async () => {
      const page = await open(ADDRESS);
      await press(page, "2. Active queue management");
      await until(page, () => document.querySelectorAll(".side").length === 2);
      await fast(page);
      await past(page, 15);
      const [fifo, codel] = (await text(page, ".says")).match(/([\d.]+) ms with/g).map(parseFloat);
      assert.ok(fifo > 200 && codel < 70, `${fifo} and ${codel}`);
      await page.close();
    });

    test("a link holds the whole scenario, the discipline beside it as well", async () => {
      const page = await open(ADDRESS);
      await press(page, "5. Wi-Fi's slow station");
      await until(page, () => document.querySelector(".airtime") !== null);
      await press(page, "Pause");
      await until(page, () => location.hash.length > 20);
      const before = await toml(page);
      const other = await open(await page.evaluate(() => location.href));
      await until(other, () => document.querySelector(".airtime") !== null);
      assert.equal(await toml(other), before);
      assert.match(before, /slow/);
      assert.equal(await other.$eval(".stations li:nth-child(3) input", (input) => input.value), "slow");
      await other.close();
      await press(page, "4. An asymmetric link");
      await until(page, () => location.search.includes("ack-filter"));
      const beside = await open(await page.evaluate(() => location.href));
      await until(beside, () => document.querySelectorAll(".side").length === 2);
      assert.match(await text(beside, ".side:nth-child(2) h2"), /ack-filter/);
      await beside.close();
      await page.close();
    });

    test("a bad link is refused with a sentence", async () => {
      for (const hash of ["#1.%%%", "#2.abc", "#1.AAAA"]) {
        const page = await open(ADDRESS + hash);
        await until(page, () => document.querySelector("[role=alert]") !== null);
        assert.match(await text(page, "[role=alert]"), /^The link .*\.$/, hash);
        await page.close();
      }
    });

    test("what the simulator refuses is said, and the run that was there stays", async () => {
      const page = await open(ADDRESS);
      await past(page, 0.1);
      await page.$eval("input[name=qdisc]", (input) => (input.value = "codel target never"));
      await press(page, "Set up");
      await until(page, () => document.querySelector("[role=alert]") !== null);
      assert.match(await text(page, "[role=alert]"), /target/);
      assert.equal(await text(page, ".side h2"), "pfifo limit 1000");
      await page.close();
    });

    test("the form sets up two disciplines, flows of two controls and a station that is added", async () => {
      const page = await open(ADDRESS);
      await past(page, 0.1);
      await page.$eval("input[name=qdisc-down]", (input) => (input.value = "fq_codel"));
      await page.click("button[aria-label='Flows up with another congestion control']");
      await page.select("select[name=scheme]", "airtime");
      await press(page, "Add a station");
      await press(page, "Set up");
      await until(page, () => document.querySelectorAll(".airtime").length === 4);
      const written = await toml(page);
      for (const part of ['qdisc_up = "pfifo limit 1000"', 'qdisc_down = "fq_codel"', '"station-4"', "tcp_up_2"]) {
        assert.ok(written.includes(part), part);
      }
      assert.deepEqual(problems, []);
      await page.close();
    });

    test("a scenario that is pasted runs, also one that the form cannot express, and a bad one is refused", async () => {
      const page = await open(ADDRESS);
      await past(page, 0.1);
      await page.$$eval("details", (found) => found.forEach((one) => (one.open = true)));
      const paste = async (text) => {
        await page.$eval(
          "textarea",
          (area, value) => {
            area.value = value;
            area.dispatchEvent(new Event("input", { bubbles: true }));
          },
          text,
        );
        await press(page, "Run it");
      };
      await paste("duration = 5 s");
      await until(page, () => document.querySelector("form [role=alert]")?.textContent.includes("not TOML"));
      await paste('duration = "5s"\nqdisc_up = "<b>"\n');
      await until(page, () => document.querySelector("main > [role=alert]")?.textContent.includes("<b>"));
      assert.ok(await page.$eval("main > [role=alert]", (one) => one.getBoundingClientRect().top >= 0));
      const flow = 'flows = [{ name = "mine", direction = "up" }]';
      const network =
        '[topology]\nends = ["a", "c"]\nlinks = [{ between = ["a", "b"], rate = "5mbit", delay = "10ms" }, { between = ["b", "c"], rate = "9mbit" }]';
      await paste(`duration = "5s"\nexperiment = "<i>x</i>"\n${flow}\n${network}\n`);
      await until(page, () => document.querySelector("pre.toml").textContent.includes("topology"));
      await fast(page);
      await past(page, 4);
      assert.equal(await page.$$eval("main b, main i", (found) => found.length), 0);
      assert.match(await text(page, ".side"), /at 5 Mbit/);
      assert.equal(await text(page, ".side h2"), "<i>x</i>");
      const again = await open(await page.evaluate(() => location.href));
      await until(again, () => document.querySelector("pre.toml")?.textContent.includes("topology"));
      assert.equal(await toml(again), await toml(page));
      await again.close();
      await page.close();
    });

    test("the keyboard alone reaches and works everything", async () => {
      const page = await open(ADDRESS);
      await past(page, 0.1);
      const reached = new Set();
      for (let i = 0; i < 80; i += 1) {
        await page.keyboard.press("Tab");
        const found = await page.evaluate(() => {
          const one = document.activeElement;
          if (one === null || one === document.body) return null;
          const outline = getComputedStyle(one);
          const seen = outline.outlineStyle !== "none" || outline.boxShadow !== "none";
          return { name: (one.name || one.textContent.trim() || one.type).slice(0, 30), seen };
        });
        if (found === null) continue;
        assert.ok(found.seen, `${found.name} does not show that it has the focus`);
        reached.add(found.name);
      }
      for (const name of ["1. A FIFO fills", "Pause", "+ a packet", "range", "qdisc", "compare", "scheme", "Set up"]) {
        assert.ok(reached.has(name), `${name} is not among ${[...reached].join(", ")}`);
      }
      // Space starts and pauses, wherever no control has the focus; arrow keys move a rate.
      await page.evaluate(() => document.activeElement?.blur());
      await page.keyboard.press(" ");
      await until(page, () => document.querySelector("button.main").textContent.trim() === "Start");
      await page.focus(".slider input");
      await page.keyboard.press("ArrowLeft");
      await until(page, () => document.querySelector(".controls .note") !== null);
      assert.deepEqual(problems, []);
      await page.close();
    });

    test("it pauses, and goes on by steps", async () => {
      const page = await open(ADDRESS);
      await past(page, 0.2);
      await press(page, "Pause");
      await until(page, () => document.querySelector("button.main").textContent.trim() === "Start");
      await new Promise((resolve) => setTimeout(resolve, 200));
      const at = await clock(page);
      await new Promise((resolve) => setTimeout(resolve, 300));
      assert.equal(await clock(page), at);
      await press(page, "+ 100 ms");
      await until(page, (least) => parseFloat(document.querySelector(".clock").textContent) > least, at);
      assert.ok(Math.abs((await clock(page)) - at - 0.1) < 0.011);
      await page.close();
    });

    test("one discipline beside itself makes the same run twice", async () => {
      const page = await open(ADDRESS);
      await past(page, 0.1);
      await page.$eval("input[name=compare]", (input) => (input.value = "pfifo limit 1000"));
      await press(page, "Set up");
      await until(page, () => document.querySelectorAll(".side").length === 2);
      await fast(page);
      await past(page, 5);
      await press(page, "Pause");
      await until(page, () => document.querySelector("button.main").textContent.trim() === "Start");
      await new Promise((resolve) => setTimeout(resolve, 200));
      const numbers = await page.$$eval(".side", (sides) =>
        sides.map((side) => [...side.querySelectorAll(".numbers")].map((one) => one.textContent)),
      );
      assert.deepEqual(numbers[0], numbers[1]);
      await page.close();
    });

    test("the rate is changed while it runs, and the page says so", async () => {
      const page = await open(ADDRESS);
      await past(page, 0.2);
      await page.$$eval(".slider input", ([, slider]) => {
        slider.value = "0";
        slider.dispatchEvent(new Event("input", { bubbles: true }));
      });
      await until(page, () => document.querySelector(".controls .note") !== null);
      await until(page, () => /at 1 Mbit/.test(document.querySelector(".numbers").textContent));
      await page.close();
    });

    test("a link with a dragged rate starts at once and gives the same pictures", async () => {
      const page = await open(ADDRESS);
      await press(page, "2. Active queue management");
      await until(page, () => document.querySelectorAll(".side").length === 2);
      await past(page, 1);
      await page.$$eval(".slider input", ([, slider]) => {
        slider.value = "0.3";
        slider.dispatchEvent(new Event("input", { bubbles: true }));
      });
      await until(page, () => location.search.includes("rates="));
      await page.evaluate(() => (navigator.clipboard.writeText = async (text) => void (globalThis.copied = text)));
      await fast(page);
      await past(page, 5);
      await press(page, "Pause");
      await until(page, () => document.querySelector("button.main").textContent.trim() === "Start");
      await new Promise((resolve) => setTimeout(resolve, 300));
      await press(page, "Copy the link to this moment");
      await until(page, () => globalThis.copied !== undefined);
      const numbers = (where) => where.$$eval(".side .numbers", (found) => found.map((one) => one.textContent));
      const before = { clock: await clock(page), numbers: await numbers(page) };
      // The same moment, reached at another pace; and without the moment the run starts by itself.
      const address = await page.evaluate(() => globalThis.copied.replace(/speed=[^&#]*/, "speed=0.001"));
      assert.match(address, /at=/);
      const other = await open(address);
      await until(other, () => document.querySelectorAll(".side").length === 2);
      await past(other, before.clock);
      await press(other, "Pause");
      assert.equal(await clock(other), before.clock);
      assert.deepEqual(await numbers(other), before.numbers);
      await other.close();
      const plain = await open(await page.evaluate(() => location.href));
      await past(plain, 0.5);
      await plain.close();
      assert.deepEqual(problems, []);
      await page.close();
    });

    test("a step of the tour has an address: reload and back stay in the tour", async () => {
      const page = await open(ADDRESS);
      const heading = (start) =>
        until(page, (wanted) => document.querySelector(".tour h2").textContent.startsWith(wanted), start);
      await heading("1 of 6");
      await past(page, 0.1);
      await press(page, "3. Fair queueing");
      await heading("3 of 6");
      await until(page, () => location.search.includes("step=3"));
      await page.reload();
      await heading("3 of 6");
      await press(page, "6. Marks instead of drops");
      await heading("6 of 6");
      await page.goBack();
      await heading("3 of 6");
      await page.close();
    });

    test("below the sentence about a bad link the first step runs", async () => {
      const page = await open(`${ADDRESS}#1.AAAA`);
      await until(page, () => document.querySelector("[role=alert]") !== null);
      await past(page, 0.2);
      for (const query of ["?rates=x", "?at=-1", "?speed=fast"]) {
        const other = await open(`${ADDRESS}${query}${await page.evaluate(() => location.hash)}`);
        await until(other, () => document.querySelector("[role=alert]") !== null);
        assert.match(await text(other, "[role=alert]"), /^The link has .* but it must be .*\.$/);
        await other.close();
      }
      await page.close();
    });

    test("a ping that is late is seen while it is under way, and the queue's time with its target", async () => {
      const page = await open(ADDRESS);
      await past(page, 1);
      const titles = await page.$$eval("figcaption .title", (found) => found.map((one) => one.textContent));
      assert.ok(titles.includes("Time in the queue"), titles.join());
      await press(page, "2. Active queue management");
      await until(page, () => document.body.textContent.includes("Time in the queue, target 5 ms"));
      await page.close();
    });

    test(
      "with the processor slowed 4 times each speed goes forward",
      { skip: name !== "chrome" && "the driver cannot slow it" },
      async () => {
        const page = await open(ADDRESS);
        await press(page, "2. Active queue management");
        await past(page, 0.1);
        await page.emulateCPUThrottling(4);
        const speeds = await page.$$eval(".controls select option", (found) => found.map((one) => one.textContent));
        for (const [index, speed] of speeds.entries()) {
          await page.$eval(
            ".controls select",
            (select, wanted) => {
              select.selectedIndex = wanted;
              select.dispatchEvent(new Event("change", { bubbles: true }));
            },
            index,
          );
          const packets = () => page.$$eval(".numbers", (found) => found.map((one) => one.textContent).join());
          const before = [await clock(page), await packets()];
          await new Promise((resolve) => setTimeout(resolve, 700));
          const [at] = [await clock(page), await packets()];
          const factor = parseFloat(speed);
          const least = Number.isNaN(factor) ? 0.3 : factor >= 0.1 ? 0.2 * factor : 0;
          assert.ok(at - before[0] >= Math.min(least, 5), `${speed}: ${before[0]} to ${at}`);
          if (at < 15) continue;
          await press(page, "Begin again");
          await until(page, () => parseFloat(document.querySelector(".clock").textContent) < 5);
        }
        await page.close();
      },
    );

    test("axe finds nothing, wide and light or narrow and dark", async () => {
      for (const [width, scheme] of [
        [1280, "light"],
        [360, "dark"],
      ]) {
        const page = await open(ADDRESS, width, scheme);
        await past(page, 1);
        await page.$$eval("details", (found) => found.forEach((one) => (one.open = true)));
        await page.select("select[name=scheme]", "airtime");
        await page.waitForSelector(".stations");
        await page.evaluate(axe);
        const found = await page.evaluate(async () => {
          const { violations } = await window.axe.run();
          return violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.html.slice(0, 120)).join(" ; ")}`);
        });
        assert.deepEqual(found, []);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(wide <= width, `${wide} of ${width}`);
        await page.close();
      }
    });

    test(
      "once loaded it works without a network",
      { skip: name !== "chrome" && "the driver has no offline mode" },
      async () => {
        const page = await open(ADDRESS);
        await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
        await page.setOfflineMode(true);
        await page.goto(ADDRESS);
        await past(page, 0.2);
        await page.close();
      },
    );
  });
}
