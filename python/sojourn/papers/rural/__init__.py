"""Tackling Bufferbloat in Capacity-limited Networks (seed 001): plan, claims, figures."""
