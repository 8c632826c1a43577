// Package collector shows the figures of a host, or of a single server, to Prometheus.
// Register what [New] returns with a registry: the example shows the whole page.
//
// It is a module of its own, so that only programs that need it download the client of Prometheus. No
// tick waits for a scrape. [Dashboard] is a dashboard for Grafana with these metrics.
package collector

import _ "embed"

// Dashboard is a dashboard for Grafana, as JSON. Grafana asks for the data source at the import.
//
//go:embed dashboard.json
var Dashboard []byte
