"""The figures of "The Good, the Bad and the WiFi" (seed 000), each by what it shows.

| figure        | function            | panels                | shows                                    |
|---------------|---------------------|-----------------------|------------------------------------------|
| Figs. 2a to c | `latency_goodput`   | a call for each link  | medians and 1-sigma ellipses             |
| Fig. 3        | `voip_delay_cdf`    | cross traffic x link  | distribution of one-way delay            |
| Figs. 4 and 5 | `page_fetch_bars`   | cross traffic x link  | mean fetch time, standard deviation      |
| Fig. 6a       | `jain_bars`         | one, grouped by link  | fairness index, standard deviation       |
| Figs. 6b to d | `flow_goodput_bars` | one for each link     | goodput of each flow, standard deviation |
| Figs. 7a to c | `transient_lines`   | one for each link     | point-wise mean latency, first 25 s      |

All take plain numbers and return matplotlib figures. Where there are no numbers, the panel says so.
"""

from sojourn.plots.ellipse import latency_goodput
from sojourn.plots.fairness import flow_goodput_bars, jain_bars
from sojourn.plots.transient import transient_lines
from sojourn.plots.voip import voip_delay_cdf
from sojourn.plots.web import page_fetch_bars

__all__ = [
    "flow_goodput_bars",
    "jain_bars",
    "latency_goodput",
    "page_fetch_bars",
    "transient_lines",
    "voip_delay_cdf",
]
