"""Tables and arrays in files: one reader, one writer, whole files or none."""
