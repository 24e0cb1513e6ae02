"""Fighting fire with fire (seed 003): plan, claims, figures."""
