package collector

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/foretick/foretick/figures"
	"github.com/foretick/foretick/host"
)

// Source has the figures. A *host.Host is one, and Of makes one of a single server.
type Source interface {
	// Figures sets dst to the sums by kind of match.
	Figures(dst *figures.Host)
	// EachMatch calls fn with each match that runs, until it returns false.
	EachMatch(fn func(name, kind string, one *figures.Server) bool)
	// Stats returns the counters of the host itself.
	Stats() host.Stats
}

// Config configures a Collector. Zero in each field means the default named.
type Config struct {
	// MatchLimit is the number of running matches up to which each has series with the
	// label match. With more matches there are none, because each match would leave its series in
	// the database. 0 means no such series. Negative is an error. At most 10 000.
	MatchLimit int
}

const mostMatches = 10_000

// Collector is a [prometheus.Collector]. Any goroutine may call its methods.
type Collector struct {
	source Source
	limit  int
}

// New makes a collector. It panics if source is nil, or if a field of cfg is out of its range.
func New(source Source, cfg Config) *Collector {
	switch {
	case source == nil:
		panic("collector: New is given no source: pass a *host.Host, or collector.Of a server")
	case cfg.MatchLimit < 0 || cfg.MatchLimit > mostMatches:
		panic(fmt.Sprintf("collector: Config.MatchLimit is %d: use up to %d, or 0 for none", cfg.MatchLimit, mostMatches))
	}
	return &Collector{source, cfg.MatchLimit}
}

// Of makes a Source of a single server, which runs without a host. kind is the label kind of its
// metrics.
func Of(kind string, server host.Figured) Source { return single{kind, server} }

type single struct {
	kind   string
	server host.Figured
}

func (s single) Figures(dst *figures.Host) {
	k := figures.Kind{Name: s.kind, Matches: 1, Begun: 1}
	s.server.Figures(&k.Sum)
	dst.Matches, dst.Kinds, dst.Endpoint = 1, append(dst.Kinds[:0], k), k.Sum.Endpoint
}

func (s single) EachMatch(func(name, kind string, one *figures.Server) bool) {}

func (s single) Stats() host.Stats { return host.Stats{} }

// Describe implements prometheus.Collector.
func (c *Collector) Describe(to chan<- *prometheus.Desc) {
	for _, m := range all {
		to <- m.desc
	}
}

// Collect implements prometheus.Collector.
func (c *Collector) Collect(to chan<- prometheus.Metric) {
	var sum figures.Host
	c.source.Figures(&sum)
	for i := range sum.Kinds {
		k := &sum.Kinds[i]
		e := emitter{to: to, labels: []string{text(k.Name)}}
		e.put(matches, float64(k.Matches))
		e.put(begun, float64(k.Begun))
		e.server(&k.Sum)
	}
	emitter{to: to}.endpoint(sum.Endpoint)
	if _, alone := c.source.(single); !alone {
		emitter{to: to}.host(c.source.Stats())
	}
	if sum.Matches > c.limit {
		return
	}
	n := 0
	c.source.EachMatch(func(name, kind string, one *figures.Server) bool {
		e := emitter{to: to, labels: []string{text(name), text(kind)}}
		e.put(matchPlayers, float64(one.Players))
		e.put(matchHeld, float64(one.Held))
		e.put(matchQueued, float64(one.QueuedBytes))
		e.put(matchSlips, float64(one.Slips))
		e.quantiles(matchTick, &one.TickTime)
		n++
		return n < c.limit
	})
}

// text returns a label's value: names may come from outside, and labels must be UTF-8.
func text(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strconv.QuoteToASCII(s)
}

// emitter sends metrics with the same first labels.
type emitter struct {
	to     chan<- prometheus.Metric
	labels []string
}

func (e emitter) put(m *metric, v float64, more ...string) {
	e.to <- prometheus.MustNewConstMetric(m.desc, m.kind, v, append(e.labels[:len(e.labels):len(e.labels)], more...)...)
}

func (e emitter) count(m *metric, n uint64, more ...string) { e.put(m, float64(n), more...) }

// histogram sends a histogram with the bounds of figures.
func (e emitter) histogram(m *metric, h *figures.Histogram) {
	buckets, sum := make(map[float64]uint64, figures.Buckets), uint64(0)
	for i := range figures.Buckets - 1 {
		sum += h.Counts[i]
		buckets[figures.Bound(i).Seconds()] = sum
	}
	e.to <- prometheus.MustNewConstHistogram(m.desc, h.Count(), h.Sum.Seconds(), buckets, e.labels...)
}

// shares sends a histogram of shares, with the bounds of figures.
func (e emitter) shares(m *metric, s *figures.Shares, more ...string) {
	buckets, sum := make(map[float64]uint64, figures.ShareBuckets), uint64(0)
	for i, n := range s.Counts {
		sum += n
		buckets[figures.ShareBound(i)] = sum
	}
	e.to <- prometheus.MustNewConstHistogram(m.desc, sum, s.Sum, buckets, append(e.labels[:len(e.labels):len(e.labels)], more...)...)
}

// quantiles sends the median and the 99th percentile of a histogram.
func (e emitter) quantiles(m *metric, h *figures.Histogram) {
	q := map[float64]float64{}
	for _, at := range []float64{0.5, 0.99} {
		q[at] = h.Quantile(at).Seconds()
	}
	e.to <- prometheus.MustNewConstSummary(m.desc, h.Count(), h.Sum.Seconds(), q, e.labels...)
}

// server sends the figures of a sum of servers.
func (e emitter) server(s *figures.Server) {
	e.count(ticks, s.Ticks)
	e.count(slips, s.Slips)
	e.count(ticksLost, s.TicksLost)
	e.count(longRecords, s.LongRecords)
	e.count(tooLong, s.RecordsTooLong)
	e.count(notShown, s.NotShown)
	e.histogram(tick, &s.TickTime)
	e.quantiles(tickQuantiles, &s.TickTime)
	e.histogram(lateness, &s.Lateness)
	for state, n := range map[string]int{"playing": s.Players, "held": s.Held, "waiting": s.Waiting, "observing": s.Observers} {
		e.put(players, float64(n), state)
	}
	for event, n := range map[string]uint64{"joined": s.Joined, "left": s.Left, "resumed": s.Resumed} {
		e.count(moves, n, event)
	}
	e.count(bytesMoved, s.BytesIn, "in")
	e.count(bytesMoved, s.BytesOut, "out")
	e.count(packets, s.PacketsIn, "in")
	e.count(packets, s.PacketsOut, "out")
	e.count(packetsFailed, s.PacketsRefused)
	e.count(malformed, s.Malformed)
	e.put(queued, float64(s.QueuedBytes))
	e.put(queuedMost, float64(s.QueuedMost))
	for r, n := range s.Refused {
		e.count(refused, n, figures.Refusal(r).String())
	}
	for result, n := range map[string]uint64{"taken": s.InputsTaken, "missing": s.InputsMissing, "rejected": s.InputsRejected, "rerun": s.InputsRerun} {
		e.count(inputs, n, result)
	}
	e.count(rewinds, s.Rewinds)
	e.count(clamped, s.RewindsClamped)
	for cause, n := range s.Causes {
		e.count(unpredicted, n, figures.Cause(cause).String())
	}
	for cause, n := range s.Corrections {
		e.count(corrections, n, figures.Cause(cause).String())
	}
	e.histogram(rtt, &s.RTT)
	e.shares(loss, &s.LossIn, "in")
	e.shares(loss, &s.LossOut, "out")
	e.count(panics, s.Panics)
	seen := map[string]bool{}
	for i := range s.Systems {
		x := &s.Systems[i]
		if name := text(x.Name); !seen[name] {
			seen[name] = true
			e.put(systemTime, x.Total.Seconds(), name)
			e.count(systemRuns, x.Runs, name)
		}
	}
}

// endpoint sends the counters of an endpoint. Those of one name are one.
func (e emitter) endpoint(all []figures.Count) {
	sums := map[figures.Count]uint64{}
	for _, c := range all {
		key := figures.Count{Part: text(c.Part), Layer: text(c.Layer), Name: text(c.Name)}
		if c.Refusal != "" {
			key.Refusal = "refused"
		}
		sums[key] += c.N
	}
	for c, n := range sums {
		if c.Refusal != "" {
			e.count(endpointRefused, n, c.Part, c.Layer, c.Name)
		} else {
			e.count(endpointEvents, n, c.Part, c.Layer, c.Name)
		}
	}
}

// host sends the counters of a host.
func (e emitter) host(s host.Stats) {
	e.put(hostPeers, float64(s.Players))
	e.count(hostEnded, s.Ended)
	e.count(hostPanicked, s.Panicked)
	for r, n := range s.Refusals {
		e.count(hostRefused, n, host.Refusal(r).String())
	}
	e.count(hostDropped, s.Dropped)
	e.count(hostMoves, s.Moves)
	e.count(hostSteps, s.Steps)
	e.count(hostLate, s.Late)
	e.count(hostHooks, s.HookPanics)
	e.count(hostStalls, s.Stalls)
	e.count(hostGivenUp, s.Abandoned)
	e.put(hostStuck, float64(s.Stuck))
	e.put(hostLost, float64(s.Lost))
	e.count(hostBehind, s.Behind)
	unready := 0.
	if s.Unready {
		unready = 1
	}
	e.put(hostUnready, unready)
}
