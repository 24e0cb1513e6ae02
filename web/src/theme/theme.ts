// The choice between light and dark: the system's, until the user says otherwise.

export type Theme = "system" | "light" | "dark";

const KEY = "sojourn-theme";
const EVENT = "sojourn-theme";

export function theme(): Theme {
  try {
    const kept = localStorage.getItem(KEY);
    return kept === "light" || kept === "dark" ? kept : "system";
  } catch {
    return "system"; // a page of a file may keep nothing
  }
}

export function setTheme(next: Theme): void {
  try {
    if (next === "system") localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, next);
  } catch {
    // it holds until the page is closed
  }
  apply(next);
  dispatchEvent(new Event(EVENT));
}

export function apply(next: Theme): void {
  if (next === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = next;
}

export function isDark(): boolean {
  const chosen = document.documentElement.dataset["theme"];
  return chosen === undefined ? matchMedia("(prefers-color-scheme: dark)").matches : chosen === "dark";
}

/** Calls back whenever light and dark change; answers what ends that. */
export function onTheme(call: () => void): () => void {
  const query = matchMedia("(prefers-color-scheme: dark)");
  query.addEventListener("change", call);
  addEventListener(EVENT, call);
  return () => {
    query.removeEventListener("change", call);
    removeEventListener(EVENT, call);
  };
}
