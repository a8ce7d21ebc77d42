"""Commands made from the operations of the platform's objects."""
