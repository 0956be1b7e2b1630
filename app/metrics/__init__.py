"""What a monitoring system reads at ``/metrics`` (docs/adr/0012)."""
