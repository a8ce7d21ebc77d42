"""What features stand on: screens, actions, keys, frame."""
