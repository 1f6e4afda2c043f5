"""The page: a map to explore, in one HTML file that needs no network."""
