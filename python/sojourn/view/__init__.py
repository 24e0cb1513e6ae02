"""The dashboard of stored runs: a local web application that reads, and never writes.

`source` finds the results below a folder, `table` reads the heads of their runs, `settings` says what tells them apart,
`course` makes the series of a run short enough to be drawn, `findings` are comparisons, claims and progress, and
`server` answers a browser.

What the server answers, each as JSON. `F` is the number of a folder in `/api/about`, `ID` the name of a run:

| path | answer |
|---|---|
| `/api/about` | `title`, `version`, and of each folder its `path`, `kind`, `title` and `command` |
| `/api/runs` | `columns`: for each column its `name`, `kind` and `values`; `broken`: what cannot be read, and why |
| `/api/run/F/ID` | the record of a run without its series |
| `/api/series/F/ID?metric=M&points=N&from=S&to=S&combined=1` | `series`: `metric`, `name`, `direction`, `t` and `v` |
| `/api/cdf/F/ID?metric=M` | `value` and `fraction` of the distribution, and `count` |
| `/api/comparison/F` | a row for each cell and metric, and one for each difference of two cells |
| `/api/comparison/F/G` | the same of two folders, each discipline with the name of its folder |
| `/api/map/F` | `columns` and `rows` of what a map has come to |
| `/api/claims` | the claims of each folder that has some |
| `/api/progress` | of each folder: `runs`, `planned`, `writing` and `newest` |

`/api/runs`, `/api/comparison/F`, `/api/map/F`, `/api/claims` and `/api/progress` have an ETag that costs no more than a
look at the folders, so a page may ask every second. An error is `{"error": SENTENCE}` with a status from 400 on.
"""
