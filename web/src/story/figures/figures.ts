import type { Component } from "svelte";
import type { Engine } from "../../engine/protocol";
import type { Speech } from "../../texts/texts";
import type { FigureName } from "../scenes";

/** What each figure takes. */
export interface FigureProps {
  engine: Engine;
  speech: Speech;
  /** Nothing but the picture and its control. */
  alone?: boolean;
  /** The height that there is for the picture, if it is given. */
  tall?: number;
  /** Hears of the line that a reader has, where a figure asks for it. */
  told?: (line: { downMbit: number; upMbit: number }) => void;
}

type Loaded = Promise<{ default: Component<FigureProps> }>;

/** The figures after the first are loaded when the reader comes near. */
export const LOADERS: Record<FigureName, () => Loaded> = {
  call: () => import("./Call.svelte"),
  house: () => import("./House.svelte"),
  buffer: () => import("./Buffer.svelte"),
  codel: () => import("./Codel.svelte"),
  fair: () => import("./Fair.svelte"),
  wifi: () => import("./Wifi.svelte"),
  l4s: () => import("./L4s.svelte"),
};
