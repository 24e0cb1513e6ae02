// <sojourn-figure name="call" lang="de"></sojourn-figure>: a figure of the story in another page. This one script is all
// that the page needs. The figure stands in a frame of its own, so neither's styles touch the other's.

const FIGURES = ["call", "house", "buffer", "codel", "fair", "wifi", "l4s"];
const own = new URL("embed.html", import.meta.url);

class SojournFigure extends HTMLElement {
  static observedAttributes = ["name", "lang"];

  attributeChangedCallback() {
    if (this.isConnected) this.connectedCallback();
  }

  connectedCallback() {
    const name = this.getAttribute("name") ?? "call";
    const lang = this.getAttribute("lang") ?? document.documentElement.lang;
    const root = this.shadowRoot ?? this.attachShadow({ mode: "open" });
    if (!FIGURES.includes(name)) {
      root.textContent = `name is "${name}", but must be one of ${FIGURES.join(", ")}`;
      return;
    }
    const style = document.createElement("style");
    style.textContent =
      ":host { display: block; height: 320px } iframe { width: 100%; height: 100%; border: 0; border-radius: 12px }";
    const frame = document.createElement("iframe");
    frame.loading = "lazy";
    frame.title = "Bufferbloat";
    frame.src = `${own.href}#${name}/${encodeURIComponent(lang)}`;
    root.replaceChildren(style, frame);
  }
}
customElements.define("sojourn-figure", SojournFigure);
