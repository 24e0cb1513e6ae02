import { mount } from "svelte";
import { apply, theme } from "../theme/theme";
import App from "./App.svelte";

// The token has become a cookie; it need not stand in the address any longer.
if (new URLSearchParams(location.search).has("token"))
  history.replaceState(null, "", location.pathname + location.hash);
apply(theme());
const target = document.getElementById("app");
if (target === null) throw new Error("the page has no element #app");
mount(App, { target });
