"""Alarms after ISA-18.2: their life from fault to clearance, and the actions of operators."""
