"""Repeated work: resumable, reproducible jobs on threads or a Dask cluster."""
