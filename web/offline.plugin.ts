// Makes the laboratory work without a network once it was loaded: a service worker that keeps every file of the build.

import { createHash } from "node:crypto";
import type { Plugin } from "vite";

/** Pages that only a server of their own can serve. */
const SERVED = ["view.html"];

/** The service worker of these files. It answers out of its cache; a new build has a cache of another name. */
export function serviceWorker(files: readonly string[], version: string): string {
  return `const NAME = ${JSON.stringify(`sojourn-${version}`)};
const FILES = ${JSON.stringify(files)};
const urls = new Set(FILES.map((file) => new URL(file, location.href).href));
addEventListener("install", (event) => {
  event.waitUntil(caches.open(NAME).then((cache) => cache.addAll(FILES)).then(() => skipWaiting()));
});
addEventListener("activate", (event) => {
  const old = (name) => name.startsWith("sojourn-") && name !== NAME;
  const tidy = async () => {
    for (const name of await caches.keys()) if (old(name)) await caches.delete(name);
    await clients.claim();
  };
  event.waitUntil(tidy());
});
addEventListener("fetch", (event) => {
  const url = new URL(event.request.url);
  url.search = "";
  url.hash = "";
  if (event.request.method !== "GET" || !urls.has(url.href)) return;
  event.respondWith(caches.match(url.href).then((kept) => kept ?? fetch(event.request)));
});
`;
}

const REGISTER = `if ("serviceWorker" in navigator) navigator.serviceWorker.register("./sw.js").catch(() => undefined);\n`;

export function offline(): Plugin {
  return {
    name: "sojourn-offline",
    apply: "build",
    transformIndexHtml(html, { filename }) {
      if (SERVED.some((page) => filename.endsWith(page))) return html;
      return [{ tag: "script", attrs: { type: "module", src: "./offline.js" }, injectTo: "head" as const }];
    },
    generateBundle: {
      order: "post",
      handler(_, bundle) {
        const files = Object.keys(bundle).filter((file) => !SERVED.includes(file) && !file.endsWith(".map"));
        const hash = createHash("sha256");
        for (const file of files.sort()) {
          const part = bundle[file];
          if (part !== undefined) hash.update(file).update(part.type === "chunk" ? part.code : part.source);
        }
        const kept = ["./", ...files.map((file) => `./${file}`), "./offline.js"];
        const source = serviceWorker(kept, hash.digest("hex").slice(0, 16));
        this.emitFile({ type: "asset", fileName: "sw.js", source });
        this.emitFile({ type: "asset", fileName: "offline.js", source: REGISTER });
      },
    },
  };
}
