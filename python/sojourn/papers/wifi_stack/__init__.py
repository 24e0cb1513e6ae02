"""Bufferbloat mitigation in the WiFi stack (seed 002): plan, claims, figures."""
