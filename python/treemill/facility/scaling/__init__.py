"""The facility's benchmark after PROOF's ProofBench: what is measured, where the workers' time
went, fits, what limits, and the report. Plain values in and out; starts no query and reads no
dataset."""
