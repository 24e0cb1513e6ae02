"""Where runs are kept, and the frames made of them: from the files of one run up to a folder of results.

Each file needs only those before it: `record_shape` (how the keys of a record fit together), `frames` (frames of it),
`run` (one run), `cell` (its repeats), `metrics` (their metrics), `comparison` (cells side by side), `series_file` and
`head` (the files of a stored run), `stored_run`, `run_files` (writing them), `run_store` (many runs), `folder` (what is
written and replaced), `claims` (what became of them) and `index` (results that are read again). Nothing is loaded
here: a worker needs `run_files` only.
"""
