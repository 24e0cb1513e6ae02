"""The next steps of seed 002 section 4: plan, expectations, figures."""
