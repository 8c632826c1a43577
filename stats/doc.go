// Package stats has what servers, players, clients and hosts count, as plain values: what
// Stats, Player, Losses and Traffic of the ends return, and what the Figures of a server
// and of a host set for pages and monitoring. Package stats/metrics writes these for Prometheus.
//
//	var sum stats.Host
//	h.Figures(&sum) // h is a *host.Host; any goroutine may call it, and no tick waits for it
//	for _, k := range sum.Kinds {
//		fmt.Println(k.Name, k.Matches, k.Sum.TickTime.Quantile(0.99))
//	}
//
// Counters count from the start of a server, a client or a host and never go back. Gauges are as
// of the newest tick. Values of servers can be added: [Server.Add] sums servers, and
// [Histogram.Add] histograms. String methods make lines for a log.
//
// Compatibility: a minor version may change it, with a note. See docs/COMPATIBILITY.md.
package stats
