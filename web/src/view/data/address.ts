// Everything that the dashboard shows is in its address: the view, the filter, the order, the columns, the selected runs and
// the part of the time that is looked at. So a state can be kept and sent.

export interface State {
  tab: string;
  filter: string;
  /** The column that orders the table; empty: as the store has the runs. */
  by: string;
  descending: boolean;
  /** Columns that are shown; empty: those that are shown first. */
  columns: string[];
  /** Keys of the selected runs. */
  runs: string[];
  zoom: [number, number] | undefined;
  /** By what runs are grouped: the key down, the key across, the metric; empty: as the page chooses. */
  group: string[];
}

export const EMPTY: State = {
  tab: "runs",
  filter: "",
  by: "",
  descending: false,
  columns: [],
  runs: [],
  zoom: undefined,
  group: [],
};

export function toHash(state: State): string {
  const query = new URLSearchParams();
  if (state.filter !== "") query.set("filter", state.filter);
  if (state.by !== "") query.set(state.descending ? "down" : "up", state.by);
  if (state.columns.length > 0) query.set("columns", state.columns.join(","));
  if (state.runs.length > 0) query.set("runs", state.runs.join(","));
  if (state.zoom !== undefined) query.set("zoom", state.zoom.join(","));
  if (state.group.length > 0) query.set("group", state.group.join(","));
  const rest = query.toString();
  return `#/${state.tab}${rest === "" ? "" : `?${rest}`}`;
}

/** Reads an address. What it has not, or what cannot be meant, is as at the beginning. */
export function fromHash(hash: string): State {
  const [path = "", rest = ""] = hash.replace(/^#\//, "").split("?", 2);
  const query = new URLSearchParams(rest);
  const listed = (key: string): string[] => (query.get(key) ?? "").split(",").filter((word) => word !== "");
  const [low, high] = listed("zoom").map(Number);
  const zoomed = low !== undefined && high !== undefined && Number.isFinite(low) && high > low;
  return {
    tab: path,
    filter: query.get("filter") ?? "",
    by: query.get("up") ?? query.get("down") ?? "",
    descending: query.has("down"),
    columns: listed("columns"),
    runs: listed("runs"),
    zoom: zoomed ? [low, high] : undefined,
    group: query.has("group") ? (query.get("group") as string).split(",", 3) : [],
  };
}
