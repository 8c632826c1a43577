package oracletest

// hostPlans are about what a program does with a server, and what befalls it.
func hostPlans() []*plan { return nil }
