"""Who is measured: a program each, started as a process of its own, that runs a workload and says how long it took."""
