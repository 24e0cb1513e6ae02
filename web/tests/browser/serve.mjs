// A server of static files on the loopback, as `python3 -m http.server` is one. It compresses nothing.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";

const KINDS = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".wasm": "application/wasm",
  ".svg": "image/svg+xml",
  ".png": "image/png",
};

/** Serves a folder. `address` is that of its first page, and `sent` has the files that were asked for. */
export async function serve(folder) {
  const sent = new Map();
  const server = createServer(async (request, response) => {
    const path = normalize(new URL(request.url, "http://local").pathname);
    try {
      const file = join(folder, path === "/" ? "index.html" : path);
      const body = await readFile(file);
      sent.set(path, body);
      response.writeHead(200, { "Content-Type": KINDS[extname(file)] ?? "application/octet-stream" }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { address: `http://127.0.0.1:${server.address().port}/`, sent, close: () => server.close() };
}
