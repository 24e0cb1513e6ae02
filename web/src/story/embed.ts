import { mount } from "svelte";
import { apply, theme } from "../theme/theme";
import { chosenLanguage, speechOf } from "../texts/texts";
import Alone from "./Alone.svelte";
import { engines } from "./engines";
import { FIGURES } from "./scenes";

// One figure and nothing else, for a frame in another page: embed.html#call/de.

apply(theme());
const [wanted = "", language = null] = location.hash.slice(1).split("/");
const name = FIGURES.find((one) => one === wanted) ?? "call";
const engine = engines();
const speech = await speechOf(chosenLanguage(language, navigator.languages));
document.documentElement.lang = speech.language;
mount(Alone, { target: document.getElementById("app") as HTMLElement, props: { engine, speech, name } });
