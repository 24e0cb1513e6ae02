// records.mjs WHERE FILE: runs each scenario of FILE (a JSON array) in WHERE (node, chromium or firefox), and prints a JSON array
// of { record, seconds } or { refused }. In a browser it is the page's own client and worker, built as for the page.

import { createServer } from "node:http";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";
import { pathToFileURL } from "node:url";

const [where, file, executablePath] = process.argv.slice(2);
const scenarios = JSON.parse(await readFile(file, "utf8"));
const pkg = join(import.meta.dirname, "../src/engine/pkg");

async function inNode() {
  const { initSync, Live } = await import(pathToFileURL(join(pkg, "sojourn.js")).href);
  initSync({ module: await readFile(join(pkg, "sojourn_bg.wasm")) });
  return scenarios.map((scenario) => {
    const begun = performance.now();
    try {
      const live = new Live(JSON.stringify(scenario), false);
      while (live.advance(0.5) < 1);
      return { record: live.record(0, 0), seconds: (performance.now() - begun) / 1000 };
    } catch (thrown) {
      if (typeof thrown !== "string") throw thrown;
      return { refused: thrown };
    }
  });
}

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm" };

async function inBrowser(browserName) {
  const { build } = await import("vite");
  const { default: puppeteer } = await import("puppeteer-core");
  const folder = await mkdtemp(join(tmpdir(), "sojourn-engine-"));
  let browser;
  let server;
  try {
    await build({
      root: join(import.meta.dirname, "engine"),
      configFile: false,
      base: "./",
      logLevel: "error",
      worker: { format: "es" },
      build: { target: "es2022", outDir: folder, emptyOutDir: true },
    });
    server = createServer(async (request, response) => {
      const path = normalize(new URL(request.url, "http://localhost").pathname);
      const name = path === "/" ? "/index.html" : path;
      try {
        const body = await readFile(join(folder, name));
        response.writeHead(200, { "Content-Type": TYPES[extname(name)] ?? "text/plain" }).end(body);
      } catch {
        response.writeHead(404).end();
      }
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    browser = await puppeteer.launch({
      browser: browserName === "firefox" ? "firefox" : "chrome",
      executablePath,
      headless: true,
      args: browserName === "firefox" ? [] : ["--no-sandbox"],
      protocolTimeout: 600_000,
    });
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${server.address().port}/`);
    await page.waitForFunction("window.engine !== undefined");
    const found = [];
    for (const scenario of scenarios) {
      found.push(
        await page.evaluate(async (scenario) => {
          const begun = performance.now();
          try {
            const record = await window.engine.record(scenario);
            return { record, seconds: (performance.now() - begun) / 1000 };
          } catch (error) {
            return { refused: error.message };
          }
        }, scenario),
      );
    }
    return found;
  } finally {
    await browser?.close();
    server?.close();
    await rm(folder, { recursive: true });
  }
}

const found = where === "node" ? await inNode() : await inBrowser(where);
process.stdout.write(JSON.stringify(found), () => process.exit(0));
