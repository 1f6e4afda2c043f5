"""Data beyond memory: workshops whose arrays are files, and sources read in parts."""
