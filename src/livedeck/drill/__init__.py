"""Drills: the reaction of a person to a scenario, graded from what is known to have happened. Pure."""
