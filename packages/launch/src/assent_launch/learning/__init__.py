"""What a workspace learns from what it sent: memory, measurement, credits."""
