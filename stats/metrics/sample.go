package metrics

import (
	"strconv"
	"unicode/utf8"

	"github.com/foretick/foretick/host"
	"github.com/foretick/foretick/internal/counts"
	"github.com/foretick/foretick/internal/misuse"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/stats"
)

// Each calls to with each sample of a source. Samples of one metric need not follow each other. It
// panics if source is nil, or if a field of cfg is out of its range. Any goroutine may call it, and no
// tick waits for it.
func Each(source Source, cfg Config, to func(*Sample)) {
	if err := Check(source, cfg); err != nil {
		misuse.Panicf("metrics: Each: %v", err)
	}
	var sum stats.Host
	source.Figures(&sum)
	for i := range sum.Kinds {
		k := &sum.Kinds[i]
		e := emitter{to: to, labels: []string{text(k.Name)}}
		e.emitValue(matches, float64(k.Matches))
		e.emitValue(begun, float64(k.Begun))
		e.server(&k.Sum)
	}
	emitter{to: to}.build()
	emitter{to: to}.endpoint(sum.Endpoint)
	if _, alone := source.(single); !alone {
		emitter{to: to}.host(source.Stats())
	}
	if sum.Matches > cfg.MatchLimit {
		return
	}
	n := 0
	source.EachMatch(func(name, kind string, one *stats.Server) bool {
		e := emitter{to: to, labels: []string{text(name), text(kind)}}
		e.emitValue(matchPlayers, float64(one.Players))
		e.emitValue(matchHeld, float64(one.Held))
		e.emitValue(matchQueued, float64(one.QueuedBytes))
		e.emitValue(matchSlips, float64(one.Slips))
		e.quantiles(matchTick, &one.TickTime)
		n++
		return n < cfg.MatchLimit
	})
}

// text returns a label's value. Names may come from outside, and labels must be UTF-8, so other names
// are quoted.
func text(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strconv.QuoteToASCII(s)
}

// Sample is a value of a metric with its labels. A reader must not keep it.
type Sample struct {
	Metric *Metric
	Labels []string // values of the labels, one for each name in Metric.Labels
	Value  float64  // value of a counter or a gauge

	// Count and Sum are the number and the sum of all values of a histogram or a summary.
	Count uint64
	Sum   float64
	// Buckets are the buckets of a histogram, except the last one, which has no bound.
	Buckets []Bucket
	// Quantiles are the quantiles of a summary.
	Quantiles []Quantile
}

// Bucket counts the values that are at most Bound.
type Bucket struct {
	Bound float64
	Count uint64
}

// Quantile is the value that the share At of all values does not exceed.
type Quantile struct{ At, Value float64 }

// emitter sends samples with the same first labels.
type emitter struct {
	to     func(*Sample)
	labels []string
}

func (e emitter) emitSample(s Sample, more ...string) {
	s.Labels = append(e.labels[:len(e.labels):len(e.labels)], more...)
	e.to(&s)
}

func (e emitter) emitValue(m *Metric, v float64, more ...string) {
	e.emitSample(Sample{Metric: m, Value: v}, more...)
}

func (e emitter) emitCount(m *Metric, n uint64, more ...string) { e.emitValue(m, float64(n), more...) }

// histogram sends a histogram with the bounds of figures.
func (e emitter) histogram(m *Metric, h *stats.Histogram) {
	s := Sample{Metric: m, Sum: h.Sum.Seconds(), Count: h.Count()}
	sum := uint64(0)
	for i := range stats.Buckets - 1 {
		sum += h.Counts[i]
		s.Buckets = append(s.Buckets, Bucket{stats.Bound(i).Seconds(), sum})
	}
	e.emitSample(s)
}

// shares sends a histogram of shares, with the bounds of figures.
func (e emitter) shares(m *Metric, h *stats.Shares, more ...string) {
	s := Sample{Metric: m, Sum: h.Sum, Count: h.Count()}
	sum := uint64(0)
	for i, n := range h.Counts {
		sum += n
		s.Buckets = append(s.Buckets, Bucket{stats.ShareBound(i), sum})
	}
	e.emitSample(s, more...)
}

// quantiles sends the median and the 99th percentile of a histogram.
func (e emitter) quantiles(m *Metric, h *stats.Histogram) {
	s := Sample{Metric: m, Sum: h.Sum.Seconds(), Count: h.Count()}
	for _, at := range []float64{0.5, 0.99} {
		s.Quantiles = append(s.Quantiles, Quantile{at, h.Quantile(at).Seconds()})
	}
	e.emitSample(s)
}

// build sends the sample of the running program's version.
func (e emitter) build() {
	b := ReadBuild()
	e.emitValue(build, 1, text(b.Version), text(b.Commit), text(b.Go))
}

// server sends the figures of a sum of servers.
func (e emitter) server(s *stats.Server) {
	counts.Each(s.Counters, func(field string, n uint64) {
		if m := fields[field]; m != nil {
			e.emitCount(m, n)
		}
	})
	e.histogram(tick, &s.TickTime)
	e.quantiles(tickQuantiles, &s.TickTime)
	e.histogram(lateness, &s.Lateness)
	for state, n := range map[string]int{"playing": s.Players, "held": s.Held, "waiting": s.Waiting, "observing": s.Observing} {
		e.emitValue(players, float64(n), state)
	}
	for event, n := range map[string]uint64{"joined": s.Joined, "left": s.Left, "resumed": s.Resumed} {
		e.emitCount(moves, n, event)
	}
	e.emitCount(bytesMoved, s.BytesIn, "in")
	e.emitCount(bytesMoved, s.BytesOut, "out")
	e.emitCount(packets, s.PacketsIn, "in")
	e.emitCount(packets, s.PacketsOut, "out")
	e.emitValue(queued, float64(s.QueuedBytes))
	e.emitValue(queuedMost, float64(s.QueuedMost))
	for r, n := range s.Refusals.All() {
		e.emitCount(refused, n, r.String())
	}
	for result, n := range map[string]uint64{"taken": s.InputsTaken, "missing": s.InputsMissing, "rejected": s.InputsRejected, "rerun": s.InputsRerun} {
		e.emitCount(inputs, n, result)
	}
	e.emitCount(rewinds, s.Rewinds)
	e.emitCount(clamped, s.RewindsClamped)
	for _, cause := range [...]prediction.Cause{prediction.Input, prediction.ServerEffect, prediction.RemoteInput} {
		e.emitCount(unpredicted, s.Causes.Of(cause), cause.String())
	}
	for cause, n := range s.Corrections.All() {
		e.emitCount(corrections, n, cause.String())
	}
	e.histogram(rtt, &s.RTT)
	e.shares(loss, &s.LossIn, "in")
	e.shares(loss, &s.LossOut, "out")
	e.emitCount(panics, s.Panics+s.CorePanics)
	seen := map[string]bool{}
	for i := range s.Systems {
		x := &s.Systems[i]
		if name := text(x.Name); !seen[name] {
			seen[name] = true
			e.emitValue(systemTime, x.Total.Seconds(), name)
			e.emitCount(systemRuns, x.Runs, name)
		}
	}
}

// endpoint sends the counters of an endpoint. Counters with the same labels are added up.
func (e emitter) endpoint(all []stats.Count) {
	sums := map[stats.Count]uint64{}
	for _, c := range all {
		key := stats.Count{Part: text(c.Part), Layer: text(c.Layer), Name: text(c.Name)}
		if c.Refusal != "" {
			key.Refusal = "refused"
		}
		sums[key] += c.N
	}
	for c, n := range sums {
		if c.Refusal != "" {
			e.emitCount(endpointRefused, n, c.Part, c.Layer, c.Name)
		} else {
			e.emitCount(endpointEvents, n, c.Part, c.Layer, c.Name)
		}
	}
}

// host sends the counters of a host.
func (e emitter) host(s host.Stats) {
	e.emitValue(hostPeers, float64(s.Players))
	e.emitCount(hostEnded, s.Ended)
	e.emitCount(hostPanicked, s.Panicked)
	for r, n := range s.Refusals.All() {
		e.emitCount(hostRefused, n, r.String())
	}
	e.emitCount(hostDropped, s.Dropped)
	e.emitCount(hostMoves, s.Moves)
	e.emitCount(hostSteps, s.Steps)
	e.emitCount(hostLate, s.Late)
	e.emitCount(hostHooks, s.HookPanics)
	e.emitCount(hostStalls, s.Stalls)
	e.emitCount(hostGivenUp, s.Abandoned)
	e.emitValue(hostStuck, float64(s.Stuck))
	e.emitValue(hostLost, float64(s.Lost))
	e.emitCount(hostBehind, s.Behind)
	unready := 0.
	if s.Unready {
		unready = 1
	}
	e.emitValue(hostUnready, unready)
}
