package sim

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Link describes the quality of one direction of a connection. The zero Link is perfect: no delay, in
// order, no loss. Probabilities are 0 to 1, per datagram, and independent. Values out of range are
// clamped; Validate reports them.
type Link struct {
	Latency time.Duration // minimum one-way delay
	Jitter  time.Duration // random time added to Latency: uniform in 0 … Jitter, drawn for each datagram
	// InOrder stops jitter from reordering datagrams, as queues and radio links do: a datagram arrives no
	// earlier than the one before. Reorder still reorders.
	InOrder bool

	Loss float64 // mean share of lost datagrams
	// Burst is the mean length of a run of losses, in datagrams (Gilbert 1960: a good and a bad state). Up
	// to 1, each loss is independent. The mean loss stays Loss.
	Burst    int
	MaxBurst int // longest run of burst losses; 0: unbounded. Loss and Burst remain the means as far as possible

	Duplicate float64       // probability that a datagram arrives twice, each copy with its own jitter
	Reorder   float64       // probability that a datagram is held back, so that later ones overtake it
	Hold      time.Duration // time that a datagram is held back by Reorder: uniform in Hold/2 … Hold. 0: 100 ms
	Corrupt   float64       // probability that a datagram arrives with one bit flipped

	// Bandwidth of the bottleneck in bit/s, counting each datagram with HeaderBytes more. 0: unlimited.
	Bandwidth int
	// Queue is the longest wait for the bottleneck; datagrams that would wait longer are dropped. 0: 200
	// ms.
	Queue time.Duration

	// Outage is the length of an occasional total loss (a tunnel, a hand-over). OutageEvery is the mean
	// time from the end of one outage to the start of the next: uniform in 0.5 to 1.5 times that, at least
	// 100 ms. If either is 0 there are no outages.
	Outage, OutageEvery time.Duration
}

// HeaderBytes is the cost of a datagram at a bottleneck on top of its payload: IPv4 and UDP headers.
const HeaderBytes = 28

const (
	defaultHold  = 100 * time.Millisecond
	defaultQueue = 200 * time.Millisecond
	leastOutage  = 100 * time.Millisecond
	longest      = 1000 * time.Hour
)

// Example links, each for one direction; the round trip takes twice the latency.
var (
	// LAN: one switch.
	LAN = Link{Latency: 300 * time.Microsecond, Jitter: 200 * time.Microsecond}
	// WiFi: a home network, and a server in the same country.
	WiFi = Link{Latency: 15 * time.Millisecond, Jitter: 12 * time.Millisecond, InOrder: true, Loss: 0.01, Burst: 3,
		Bandwidth: 30e6}
	// LTE: a phone in town.
	LTE = Link{Latency: 35 * time.Millisecond, Jitter: 25 * time.Millisecond, InOrder: true, Loss: 0.01, Burst: 4,
		Bandwidth: 10e6, Queue: 500 * time.Millisecond}
	// Train: a phone that changes cells and passes tunnels.
	Train = Link{Latency: 60 * time.Millisecond, Jitter: 80 * time.Millisecond, InOrder: true, Loss: 0.05, Burst: 6,
		Bandwidth: 2e6, Queue: time.Second, Outage: 2 * time.Second, OutageEvery: 20 * time.Second}
	// Satellite: a geostationary satellite.
	Satellite = Link{Latency: 290 * time.Millisecond, Jitter: 20 * time.Millisecond, InOrder: true, Loss: 0.01, Burst: 4,
		Bandwidth: 5e6, Queue: 500 * time.Millisecond}
	// Hell: worse than any player would tolerate, to see what breaks.
	Hell = Link{Latency: 25 * time.Millisecond, Jitter: 250 * time.Millisecond, Loss: 0.25, Burst: 4, MaxBurst: 10,
		Duplicate: 0.10, Reorder: 0.10, Corrupt: 0.01, Outage: 2 * time.Second, OutageEvery: 20 * time.Second}
)

var presets = []struct {
	name string
	link Link
}{{"perfect", Link{}}, {"lan", LAN}, {"wifi", WiFi}, {"lte", LTE}, {"train", Train}, {"satellite", Satellite}, {"hell", Hell}}

// Presets returns the names of all presets, the best link first: for a menu or a flag's help.
func Presets() []string {
	names := make([]string, len(presets))
	for i := range presets {
		names[i] = presets[i].name
	}
	return names
}

// Preset returns the link with this name: perfect, lan, wifi, lte, train, satellite or hell, in upper or
// lower case. For another name, the error lists them.
func Preset(name string) (Link, error) {
	for i := range presets {
		if strings.EqualFold(presets[i].name, name) {
			return presets[i].link, nil
		}
	}
	return Link{}, fmt.Errorf("sim: unknown link %q: use one of %s", name, strings.Join(Presets(), ", "))
}

// Validate returns an error that names every field out of range, or nil.
func (l Link) Validate() error {
	var errs []error
	for _, p := range []struct {
		name string
		v    float64
	}{{"Loss", l.Loss}, {"Duplicate", l.Duplicate}, {"Reorder", l.Reorder}, {"Corrupt", l.Corrupt}} {
		if !(p.v >= 0 && p.v <= 1) {
			errs = append(errs, fmt.Errorf("sim: Link.%s is %v; use a probability, 0 to 1", p.name, p.v))
		}
	}
	for _, d := range []struct {
		name string
		v    int64
	}{{"Latency", int64(l.Latency)}, {"Jitter", int64(l.Jitter)}, {"Burst", int64(l.Burst)}, {"MaxBurst", int64(l.MaxBurst)},
		{"Hold", int64(l.Hold)}, {"Bandwidth", int64(l.Bandwidth)}, {"Queue", int64(l.Queue)}, {"Outage", int64(l.Outage)},
		{"OutageEvery", int64(l.OutageEvery)}} {
		if d.v < 0 {
			errs = append(errs, fmt.Errorf("sim: Link.%s is negative", d.name))
		}
	}
	for _, d := range []struct {
		name string
		v    time.Duration
	}{{"Latency", l.Latency}, {"Jitter", l.Jitter}, {"Hold", l.Hold}, {"Queue", l.Queue}, {"Outage", l.Outage},
		{"OutageEvery", l.OutageEvery}} {
		if d.v > longest {
			errs = append(errs, fmt.Errorf("sim: Link.%s is %v; it may be at most %v", d.name, d.v, longest))
		}
	}
	return errors.Join(errs...)
}
