"""Videos and their extras: posters, subtitles, annotations, materials."""
