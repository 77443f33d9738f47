"""Step A of the paper: sees points, draws noise."""
