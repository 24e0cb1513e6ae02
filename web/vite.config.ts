import { svelte } from "@sveltejs/vite-plugin-svelte";
import { resolve } from "node:path";
import { defineConfig } from "vite";
import { offline } from "./offline.plugin.ts";

// Two pages of one build: the laboratory (index.html), and the dashboard that `sojourn view` serves (view.html). Paths are
// relative, so that a folder of static files is all that a server needs.
export default defineConfig({
  base: "./",
  plugins: [svelte(), offline()],
  worker: { format: "es" },
  build: {
    target: "es2022",
    outDir: resolve(import.meta.dirname, "../out/web"),
    emptyOutDir: true,
    rollupOptions: {
      input: { index: resolve(import.meta.dirname, "index.html"), view: resolve(import.meta.dirname, "view.html") },
    },
  },
});
