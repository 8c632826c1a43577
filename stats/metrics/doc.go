// Package metrics shows the figures of a host, or of a single server, to Prometheus.
//
//	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
//		w.Header().Set("Content-Type", metrics.ContentType)
//		_ = metrics.Write(w, h, metrics.Config{}) // h is a *host.Host
//	})
//
// It writes the text format itself, and needs the standard library only. A program that has a registry
// of the Prometheus client registers a Collector of the module stats/collector instead: it has the
// same metrics. No tick waits for a scrape.
//
// Compatibility: a minor version may change it, with a note. See docs/COMPATIBILITY.md.
package metrics
