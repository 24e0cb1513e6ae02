"""Analytical models of Wi-Fi, to hold measurements against."""
