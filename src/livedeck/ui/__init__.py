"""ui SHOWS. It is given a monitor and its snapshots; it never sees HTTP, files or settings."""
