// Package collector shows the figures of a host, or of a single server, to Prometheus.
// Register what [New] returns with a registry: the example shows the whole page.
//
// It is a module of its own, so that only programs that ask for it download the client of
// Prometheus. No tick waits for a scrape. [Dashboard] is a dashboard for Grafana with these metrics.
package collector

import _ "embed"

// Dashboard is a dashboard for Grafana, as JSON. It asks for the data source when it is imported.
//
//go:embed dashboard.json
var Dashboard []byte
