"""Disciplines against those of the kernel, call by call.

A guest puts a discipline on a device that takes every frame at once, offers it packets at given times, and notes when
each leaves. The discipline of the simulator (`sojourn.Qdisc`) is then called at the same times, and must answer the
same.

| module    | what it knows                                                                   |
|-----------|---------------------------------------------------------------------------------|
| `kinds`   | what a sequence must know of a kind, and which disciplines are compared          |
| `draw`    | random sequences of packets                                                     |
| `segments`| random TCP segments                                                             |
| `job`     | a sequence as the agent gets it: the requests to the kernel, and crafted packets |
| `replay`  | the same calls of `sojourn.Qdisc`, and the first difference                      |
| `shares`  | the same on average, for disciplines that draw random numbers                   |
| `compare` | all of these in order                                                           |
| `words`   | the results for people                                                          |
"""
