"""`rinkside calibrate`, one file per subcommand."""
