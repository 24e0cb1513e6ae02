"""Known bugs of the kernel as cases: a scenario, the reading that shows the bug, and what is right.

| module      | what it knows                                                                     |
|-------------|-----------------------------------------------------------------------------------|
| `cases`     | the cases, from the files of `cases/`, checked                                    |
| `sequences` | the packets of a case, as the agent and the simulator get them                    |
| `readings`  | the number that is read of what a kernel or the simulator did                     |
| `judge`     | plays cases on a kernel and in the simulator, and says whether the bug is there   |
| `words`     | the results for people, and the text for the maintainers                          |

A case is played in two ways. Most cases offer packets to a discipline, by the same calls as `sojourn validate calls`.
The others are packetdrill scripts (`scripts/`), as `sojourn kernel drill` runs them.
"""
