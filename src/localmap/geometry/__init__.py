"""Where rows lie: metrics, PCA, neighbours; from any kind of input."""
