package collector

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/stats/metrics"
)

// Source supplies the figures. A *host.Host is one, and Of makes one of a single server.
type Source = metrics.Source

// Config configures a Collector. Zero in a field means the field's default.
type Config = metrics.Config

// Of makes a Source of a single server, which runs without a host. kind is the label kind of its
// metrics.
func Of(kind string, server *server.Server) Source { return metrics.Of(kind, server) }

// Collector is a [prometheus.Collector]. Any goroutine may call its methods.
type Collector struct {
	source Source
	cfg    Config
	descs  map[*metrics.Metric]*prometheus.Desc
}

// New makes a collector. It panics if source is nil, or if a field of cfg is out of its range.
func New(source Source, cfg Config) *Collector {
	if err := metrics.Check(source, cfg); err != nil {
		panic(foretick.UsageError{Text: "collector: New: " + err.Error()})
	}
	c := &Collector{source, cfg, map[*metrics.Metric]*prometheus.Desc{}}
	for _, m := range metrics.All() {
		c.descs[m] = prometheus.NewDesc(m.Name, m.Help, m.Labels, nil)
	}
	return c
}

// Describe implements prometheus.Collector.
func (c *Collector) Describe(to chan<- *prometheus.Desc) {
	for _, m := range metrics.All() {
		to <- c.descs[m]
	}
}

// Collect implements prometheus.Collector.
func (c *Collector) Collect(to chan<- prometheus.Metric) {
	metrics.Each(c.source, c.cfg, func(s *metrics.Sample) { to <- c.metric(s) })
}

// metric returns a sample as a metric of Prometheus.
func (c *Collector) metric(s *metrics.Sample) prometheus.Metric {
	desc := c.descs[s.Metric]
	switch s.Metric.Type {
	case metrics.Counter:
		return prometheus.MustNewConstMetric(desc, prometheus.CounterValue, s.Value, s.Labels...)
	case metrics.Gauge:
		return prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, s.Value, s.Labels...)
	case metrics.Histogram:
		buckets := make(map[float64]uint64, len(s.Buckets))
		for _, b := range s.Buckets {
			buckets[b.Bound] = b.Count
		}
		return prometheus.MustNewConstHistogram(desc, s.Count, s.Sum, buckets, s.Labels...)
	case metrics.Summary:
		quantiles := map[float64]float64{}
		for _, q := range s.Quantiles {
			quantiles[q.At] = q.Value
		}
		return prometheus.MustNewConstSummary(desc, s.Count, s.Sum, quantiles, s.Labels...)
	}
	panic(fmt.Sprintf("collector: metric %s has the unknown type %d", s.Metric.Name, s.Metric.Type))
}
