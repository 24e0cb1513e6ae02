// A page without anything but the engine, for the tests.

import { startEngine } from "../../src/engine/engine";

declare global {
  interface Window {
    engine: ReturnType<typeof startEngine>;
  }
}

window.engine = startEngine();
