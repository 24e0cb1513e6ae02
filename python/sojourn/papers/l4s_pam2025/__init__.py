"""The study of L4S in a partial deployment (PAM 2025): what was measured, plan, claims, judges."""
