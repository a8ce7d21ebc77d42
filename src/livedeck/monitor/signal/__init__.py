"""QoS samples as a signal: series, features, hysteresis."""
