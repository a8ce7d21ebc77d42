"""client SPEAKS the platform's API. It knows HTTP; it knows nothing of screens, alarms or files of ours."""
