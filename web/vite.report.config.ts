import { resolve } from "node:path";
import { defineConfig } from "vite";

// One script that `sojourn report` writes into its page: charts, and nothing that is fetched.
export default defineConfig({
  build: {
    target: "es2022",
    outDir: resolve(import.meta.dirname, "../out/web/report"),
    emptyOutDir: true,
    copyPublicDir: false,
    lib: {
      entry: resolve(import.meta.dirname, "src/report/main.ts"),
      name: "sojournReport",
      formats: ["iife"],
      fileName: () => "report.js",
    },
  },
});
