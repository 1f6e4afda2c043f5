"""Comparisons of methods as one command: side by side, each the real package.

`sets` names the data, `methods` the methods, `plan` says which runs there are, `run`
does each in a process of its own and keeps what comes out, `worker` is that process;
`summary`, `seeds` and `notes` make tables and remarks of it, `report` and `pictures`
show them. `machine` and `timing` also serve the measurements in ``benchmarks/``.
"""
