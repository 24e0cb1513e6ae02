import { mount } from "svelte";
import { apply, theme } from "../theme/theme";
import { chosenLanguage, speechOf } from "../texts/texts";
import { engines } from "./engines";
import Story from "./Story.svelte";

apply(theme());
// The simulator is fetched while the words are.
const engine = engines();
const wanted = new URL(location.href).searchParams.get("lang");
const speech = await speechOf(chosenLanguage(wanted, navigator.languages));
mount(Story, { target: document.getElementById("app") as HTMLElement, props: { engine, first: speech } });
