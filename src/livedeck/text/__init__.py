"""Leaves: values, times and styled segments as text; they import nothing of ours."""
