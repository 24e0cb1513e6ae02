"""What makes, packs and measures Sojourn, beside the scripts for every day in `scripts/`."""
