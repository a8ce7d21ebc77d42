"""`livedeck drill`: play a scenario, grade the reactions of a person, and show the scores so far."""
