"""What every paper is made with: plans, evidence, checks, verdicts, pages."""
