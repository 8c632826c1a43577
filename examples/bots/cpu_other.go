//go:build !unix

package main

import "time"

// cpuTime returns 0: this system has no such call, and so the table shows no processor time.
func cpuTime() time.Duration { return 0 }
