"""The Linux kernel that real runs use: built from the distribution's source, found, checked, named.

| module      | what it knows                                                             |
|-------------|---------------------------------------------------------------------------|
| `cache`     | where built kernels are kept, what each was made from, how it is named     |
| `source`    | the distribution's package of the kernel's source, and how it is unpacked  |
| `tree`      | a source as a folder: its files, its name, a copy of it                    |
| `tools`     | the programs that a build needs                                            |
| `edits`     | what is changed in the source, and why                                     |
| `driver`    | our Wi-Fi driver: where its sources are, and how they get into the kernel's |
| `config`    | what is switched on in the kernel, and why                                 |
| `make`      | one `make` with a log and a progress bar, which leaves nothing behind      |
| `assemble`  | from a source that is there to a kernel that was checked                    |
| `build`     | all of these in order, for a source that a person names                    |
| `boot`      | a boot of a kernel with a small shell script                               |
| `needs`     | what a bed asks of a kernel                                               |
| `verify`    | what a kernel must keep before it is used                                  |
| `image`     | what the file of a User-Mode Linux kernel says of itself                   |
| `modules`   | the modules that a stock kernel needs, in order                            |
| `host`      | what the kernel of this machine can do for us                              |
| `find`      | which kernel a run gets                                                    |
| `status`    | all of it for people and as JSON                                           |

A run asks `sojourn.kernel.find.find()`.
"""
