"""The screens of the deck. They get a monitor and its snapshots, and never see HTTP, files or settings."""
