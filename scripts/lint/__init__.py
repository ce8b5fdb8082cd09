"""What the checks in scripts/ share: finding files, reading C++ and the layer table, reporting."""
