"""Coexistence of L4S and classic flows: cells of rate, RTT, flows, buffer and burstiness, and what comes of them."""
