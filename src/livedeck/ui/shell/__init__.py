"""Foundation of all features: screens, actions, keys, frame."""
