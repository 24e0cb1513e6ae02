// The plots of `sojourn report` that can be zoomed. The data stands in the page; without this script its pictures stay.
import plotStyle from "uplot/dist/uPlot.min.css?inline";
import chartStyle from "../charts/chart.css?inline";
import { drawLines, type Chart } from "../charts/lines";

const style = document.createElement("style");
style.textContent = plotStyle + chartStyle;
document.head.append(style);

for (const figure of document.querySelectorAll<HTMLElement>("figure[data-plot]")) {
  const data = document.getElementById(figure.dataset["plot"] ?? "");
  if (data === null) continue;
  const host = document.createElement("div");
  figure.prepend(host);
  try {
    const charts = JSON.parse(data.textContent ?? "[]") as Chart[];
    for (const chart of charts) drawLines(host, chart);
    figure.querySelector("img")?.remove();
  } catch (error) {
    host.remove(); // the picture says the same
    console.error(error);
  }
}
