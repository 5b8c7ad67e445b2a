"""The REST door: the six endpoints of the first promise, and every other verb in the same style."""
