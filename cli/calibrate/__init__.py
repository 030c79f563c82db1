"""`rinkside calibrate`, one file a subcommand."""
