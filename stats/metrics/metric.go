package metrics

import (
	"strings"

	"github.com/foretick/foretick/internal/counts"
	"github.com/foretick/foretick/stats"
)

// Type is the type of a metric.
type Type uint8

// The types.
const (
	Counter Type = iota
	Gauge
	Histogram
	Summary
)

// String returns the type's name in the text format of Prometheus.
func (t Type) String() string { return [...]string{"counter", "gauge", "histogram", "summary"}[t&3] }

// Metric describes a metric.
type Metric struct {
	Name   string // such as "foretick_ticks_total"
	Help   string // a sentence about what the metric counts
	Type   Type
	Labels []string // names of the labels
}

// all has the metrics in the order of the calls of describe below.
var all []*Metric

// All returns the metrics that a page may have. Do not change them.
func All() []*Metric { return all }

func describe(name, help string, kind Type, labels ...string) *Metric {
	m := &Metric{Name: "foretick_" + name, Help: help, Type: kind, Labels: labels}
	all = append(all, m)
	return m
}

// byKind describes a metric that has a value for each kind of match.
func byKind(kind Type, name, help string, more ...string) *Metric {
	return describe(name, help, kind, append([]string{"kind"}, more...)...)
}

func counter(name, help string, more ...string) *Metric { return byKind(Counter, name, help, more...) }

func gauge(name, help string, more ...string) *Metric { return byKind(Gauge, name, help, more...) }

func histogram(name, help string, more ...string) *Metric {
	return byKind(Histogram, name, help, more...)
}

// of describes a metric of one match.
func of(name, help string, kind Type) *Metric {
	return describe("match_"+name, help, kind, "match", "kind")
}

// onHost describes a counter of the host itself.
func onHost(name, help string, labels ...string) *Metric {
	return describe("host_"+name, help, Counter, labels...)
}

// The metrics of all matches of a kind.
var (
	matches       = gauge("matches", "Matches that run.")
	begun         = counter("matches_begun_total", "Matches that ever began.")
	ticks         = counter("ticks_total", "Ticks computed.")
	slips         = counter("slips_total", "Times a server skipped time after a stall.")
	ticksLost     = counter("ticks_lost_total", "Ticks skipped in slips.")
	skipped       = counter("snapshots_skipped_total", "Snapshots that a server that was behind did not send, because a newer one followed at once.")
	tick          = histogram("tick_seconds", "Durations of ticks, from their commands to their packets.")
	tickQuantiles = byKind(Summary, "tick_quantiles_seconds", "Median and 99th percentile of the durations of all ticks since the start.")
	lateness      = histogram("tick_lateness_seconds", "Delays of ticks, from the due time to the begin.")
	players       = gauge("players", "Peers by state: playing, held (absent, with a place), waiting (not joined yet), observing.", "state")
	moves         = counter("player_moves_total", "Players that joined, left, or resumed their place.", "event")
	bytesMoved    = counter("bytes_total", "Bytes of packets in and out, without headers of UDP and IP.", "direction")
	packets       = counter("packets_total", "Packets in and out.", "direction")
	packetsFailed = counter("packets_failed_total", "Packets that the transport refused to send.")
	longRecords   = counter("records_long_total", "States of entities that were longer than a packet and sent in pieces, for each player.")
	notShown      = counter("entities_not_shown_total", "Ticks of entities that a player is not shown, because 65 535 others are shown to it.")
	tooLong       = counter("records_too_long_total", "States of entities that were too long to send, for each player and try.")
	malformed     = counter("malformed_total", "Packets or messages that could not be parsed.")
	queued        = gauge("queued_bytes", "Bytes of reliable messages that wait for players.")
	queuedMost    = gauge("queued_bytes_most", "Bytes of reliable messages that wait for one player, of the player with the most.")
	refused       = counter("refused_total", "Peers turned away by a match, by reason.", "reason")
	inputs        = counter("inputs_total", "Ticks of connected players by what became of their command: taken, missing, rejected, rerun (counted as missing too).", "result")
	rewinds       = counter("rewinds_total", "Render times that players' commands claimed.")
	clamped       = counter("rewinds_clamped_total", "Claims that were replaced by the nearest allowed moment.")
	unpredicted   = counter("unpredicted_total", "Ticks of players with an event that their client could not predict, by cause.", "cause")
	corrections   = counter("corrections_total", "Corrections of predictions that clients reported, by cause.", "cause")
	rtt           = histogram("rtt_seconds", "Round trips to players, each counted every 10 s.")
	loss          = histogram("loss_ratio", "Shares of lost packets of players, each counted every 10 s.", "direction")
	panics        = counter("panics_total", "Panics that servers contained.")
	systemTime    = counter("system_seconds_total", "Time of systems.", "system")
	systemRuns    = counter("system_runs_total", "Runs of systems.", "system")
)

// fields maps each counter of stats.Counters that is described here to its metric. nil: the counter is
// part of a metric above that has a label, or of a sum. A counter that is missing here gets a metric by
// its own name.
var fields = map[string]*Metric{
	"Ticks": ticks, "Slips": slips, "TicksLost": ticksLost, "SnapshotsSkipped": skipped,
	"LongRecords": longRecords, "NotShown": notShown, "RecordsTooLong": tooLong,
	"PacketsRefused": packetsFailed, "Malformed": malformed,
	"Joined": nil, "Left": nil, "Resumed": nil, "BytesIn": nil, "BytesOut": nil, "PacketsIn": nil, "PacketsOut": nil,
	"InputsTaken": nil, "InputsMissing": nil, "InputsRejected": nil, "InputsRerun": nil,
	"Refused": nil, "Panics": nil, "CorePanics": nil,
}

func init() {
	counts.Each(stats.Counters{}, func(field string, _ uint64) {
		if _, known := fields[field]; !known {
			name := strings.ReplaceAll(strings.ToLower(counts.Words(field)), " ", "_")
			fields[field] = counter(name+"_total", "The counter "+field+" of stats.Counters.")
		}
	})
}

// The metrics of one match, up to Config.MatchLimit.
var (
	matchPlayers = of("players", "Connected players of a match.", Gauge)
	matchHeld    = of("held", "Absent players of a match whose place is held.", Gauge)
	matchQueued  = of("queued_bytes", "Bytes of reliable messages that wait for players of a match.", Gauge)
	matchSlips   = of("slips_total", "Times a match skipped time after a stall.", Counter)
	matchTick    = of("tick_seconds", "Median and 99th percentile of the durations of a match's ticks since its start.", Summary)
)

// The metrics of a host.
var (
	hostPeers    = describe("host_peers", "Peers in all matches.", Gauge)
	hostEnded    = onHost("matches_ended_total", "Matches that ended, for whatever reason.")
	hostPanicked = onHost("matches_panicked_total", "Matches that a panic ended.")
	hostRefused  = onHost("refused_total", "Peers that the host refused, by reason.", "reason")
	hostDropped  = onHost("dropped_total", "Datagrams dropped because an inbox was full, or because a step of the match hung.")
	hostMoves    = onHost("moves_total", "Matches that changed their worker.")
	hostSteps    = onHost("steps_total", "Steps of matches.")
	hostHooks    = onHost("hook_panics_total", "Panics in functions of host.Config, which the host survived.")
	hostLate     = onHost("late_total", "Ticks that began more than 5 ms after they were due.")
	hostStalls   = onHost("stalls_total", "Steps of matches that ran for more than 250 ms.")
	hostGivenUp  = onHost("matches_abandoned_total", "Matches that were given up because a step did not end.")
	hostBehind   = onHost("behind_total", "Ticks that began more than a tick after they were due.")
	hostUnready  = describe("host_unready", "1 while overload or a stuck match takes the host's readiness, else 0.", Gauge)
	hostStuck    = describe("host_matches_stuck", "Matches that have been in one step for longer than host.Config.Stall.", Gauge)
	hostLost     = describe("host_matches_lost", "Matches that were given up and whose step still runs. Each takes a place.", Gauge)
)

// The metrics of an endpoint.
var (
	endpointEvents  = describe("endpoint_events_total", "What an endpoint counts, by its package and part.", Counter, "part", "layer", "event")
	endpointRefused = describe("endpoint_refused_total", "Peers that an endpoint refused before a match saw them, by reason.", Counter, "part", "layer", "reason")
)

// build is the metric of the running program's version.
var build = describe("build_info", "1, with the version and the commit of the program, and its Go.", Gauge, "version", "commit", "go")
