"""Drills: the reaction of a person to a scenario, graded from the evidence. Pure."""
