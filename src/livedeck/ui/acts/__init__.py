"""Every change that can be asked for, as an `Act`: what it would break, and how one sees that it happened."""
