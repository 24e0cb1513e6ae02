"""One scenario on two back ends, and how far they differ.

| module        | what it does                                                                             |
|---------------|------------------------------------------------------------------------------------------|
| `disciplines` | which queue disciplines a grid has, resolved for the rate of a link                      |
| `bars`        | how far two means may differ, and the verdict on a pair                                  |
| `metrics`     | the one table of what is compared, in which unit and by which bar                        |
| `loss`        | the interval of a small share of lost packets                                            |
| `grid`        | from an experiment to its cells: links x disciplines                                     |
| `draw`        | scenarios drawn by a seed                                                                |
| `execute`     | runs of every cell on both back ends; what that costs                                    |
| `judge`       | from the runs of a cell to rows: a value, an interval and a verdict for each metric      |
| `errors`      | relative errors over many scenarios: median, 90th percentile, the worst                  |
| `part`        | what one command found, as a value and as files                                          |
| `exhibits`    | the data of the figures                                                                  |
| `words`       | the report of one part, Markdown                                                         |
| `document`    | a page of several validations                                                             |
| `suite`       | the whole set: which experiments, with which options                                     |

Statistics (`bars`, `loss`, `errors`, `judge`) know of no back end, running (`execute`) knows of no statistics, and what
is drawn gets plain numbers.
"""
