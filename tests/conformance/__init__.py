"""What OData 4.01 asks of a service, requirement by requirement, each tried by real requests.

``python -m tests.conformance`` (``make conformance``) starts the service, prints each requirement
with pass or fail and the totals of each level. The numbers are those of docs/conformance.md.
"""
