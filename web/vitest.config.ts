import { defineConfig } from "vitest/config";

// Tests in browsers (tests/browser/*.mjs) are run by node, and not here.
export default defineConfig({ test: { include: ["tests/**/*.test.ts"] } });
