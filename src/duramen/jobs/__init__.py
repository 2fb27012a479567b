"""Repeated work: independent jobs on threads or a Dask cluster, resumable, the same bytes."""
