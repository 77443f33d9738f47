"""Private points in files, frames and clusters, and their way to a release."""
