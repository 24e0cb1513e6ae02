/// <reference types="vite/client" />
/// <reference types="svelte" />

// What TypeScript itself sees of a component; svelte-check knows its properties.
declare module "*.svelte" {
  import type { Component } from "svelte";
  const component: Component;
  export default component;
}
