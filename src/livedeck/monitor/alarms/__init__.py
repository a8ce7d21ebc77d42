"""Alarms after ISA-18.2: what becomes of faults, and what a person does to them."""
