import { svelte } from "@sveltejs/vite-plugin-svelte";
import { resolve } from "node:path";
import { defineConfig } from "vite";
import { offline } from "./offline.plugin.ts";

// The pages of one build: the story (index.html), the laboratory, a figure alone (embed.html), and the dashboard that
// `sojourn view` serves (view.html). Paths are relative, so that a folder of static files is all that a server needs.
// With the mode `view` it is the dashboard alone, which needs no simulator.
const PAGES = ["index", "lab", "embed", "view"];

export default defineConfig(({ mode }) => ({
  base: "./",
  plugins: [svelte(), mode === "view" ? undefined : offline()],
  publicDir: mode === "view" ? false : "public",
  worker: { format: "es" },
  build: {
    target: "es2022",
    outDir: resolve(import.meta.dirname, "../out/web"),
    emptyOutDir: true,
    rollupOptions: {
      input: Object.fromEntries(
        (mode === "view" ? ["view"] : PAGES).map((name) => [name, resolve(import.meta.dirname, `${name}.html`)]),
      ),
    },
  },
}));
