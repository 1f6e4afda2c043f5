"""The paper's evaluation as one command: methods side by side, each the real package.

`plan` says which runs there are, `run` does each in a process of its own and keeps what
comes out, `worker` is that process, `report` tells what was found.
"""
