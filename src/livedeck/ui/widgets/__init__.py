"""One widget per file. A widget asks a renderable for lines and paints those that changed."""
