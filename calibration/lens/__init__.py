"""The lens: views of a target, the fit, its file, and the guide that leads to a good one."""
