package simtest

// CheckBench returns the faults of a BenchConfig.
func CheckBench(c BenchConfig) error { return c.checkConfig() }
