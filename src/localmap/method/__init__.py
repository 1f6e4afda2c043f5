"""LocalMAP in the order of the paper; `embed` is the whole of it on one screen."""
