"""The table: where fiducials and the board lie, measured and watched for drift."""
