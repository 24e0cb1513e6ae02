"""The Good, the Bad and the WiFi (seed 000): plan, claims, figures."""
