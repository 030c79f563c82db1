"""Authentication, permissions and validation of requests."""
