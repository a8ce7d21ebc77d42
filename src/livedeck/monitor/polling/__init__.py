"""What is asked of the platform, and when."""
