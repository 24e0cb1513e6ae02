"""Two kernels side by side, the commit that made the difference, and known bugs.

| module       | what it does                                                                          |
|--------------|---------------------------------------------------------------------------------------|
| `quantities` | what can be compared: its unit, its value in a run, and which way is worse            |
| `threshold`  | how large a difference must be to count                                               |
| `verdict`    | from values paired by seed to an interval and a verdict                               |
| `pair`       | two kernels under the same scenarios: the rows of `sojourn kernel compare`            |
| `words`      | the report of that, for the terminal and as Markdown                                  |
| `repository` | git: a repository that borrows the objects of another one, and `git bisect` in it     |
| `commits`    | the kernel of a commit, built from that of the commit before                          |
| `sides`      | whether good and bad are far enough apart, and which of them a commit is like         |
| `search`     | the search itself: build, measure, judge, tell git                                    |
| `bisection`  | what a search came to, as a value, as JSON and as Markdown                            |
| `bugs`       | known bugs of the kernel: cases that are played on a kernel and in the simulator      |

Runs and builds are kept by what they are a function of. So a search that was killed begins anew, and what was done
before takes no time.
"""
