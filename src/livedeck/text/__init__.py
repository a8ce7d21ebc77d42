"""text: values, times and segments made readable. A leaf: it imports nothing of ours."""
