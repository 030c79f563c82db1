"""Facts of piece sets, as TOML files."""
