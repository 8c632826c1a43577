// Package figures has the figures of servers and hosts as plain values, for pages and monitoring.
//
//	var sum figures.Host
//	h.Figures(&sum) // h is a *host.Host; any goroutine may call it, and no tick waits for it
//	for _, k := range sum.Kinds {
//		fmt.Println(k.Name, k.Matches, k.Sum.TickTime.Quantile(0.99))
//	}
//
// Counters count from the start of a server or host and never go back. Gauges are as of the newest
// tick. All values can be added: [Server.Add] sums servers, and [Histogram.Add] histograms.
//
// Compatibility: a minor version may change it, with a note. See docs/COMPATIBILITY.md.
package figures
