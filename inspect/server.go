package inspect

import (
	"fmt"
	"slices"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/stats"
)

// serverEnd collects the figures of a server.
type serverEnd struct {
	*end
	s     *server.Server
	probe probe.Server
	bytes byteCount
	first bool

	before  stats.Counters
	sums    stats.Player // counters of all players, added up
	players []server.Player
	seats   map[foretick.PlayerID]stats.Player // statistics of each player at the last tick
	rtt     []time.Duration
	buffer  []time.Duration
	rewind  []time.Duration
}

// The fixed series of a server, in their order.
const (
	srvTook = iota
	srvLate
	srvTicksLost
	srvRTT
	srvRTTWorst
	srvBuffer
	srvBufferLeast
	srvRewind
	srvRewindWorst
	srvLostOut
	srvLostIn
	srvMissing
	srvLateInputs
	srvRejected
	srvMalformed
	srvRefused
	srvOut
	srvIn
	srvPlayers
	srvQueued
	srvFixed
)

var serverSeries = [srvFixed]Series{
	srvTook:        {"tick_ms", "time of the tick", "Tick", "ms", false},
	srvLate:        {"late_ms", "begins late by", "Tick", "ms", false},
	srvTicksLost:   {"ticks_lost", "ticks skipped: the server falls behind", "Ticks lost", "in the tick", true},
	srvRTT:         {"rtt_ms", "median player", "Round trip", "ms", false},
	srvRTTWorst:    {"rtt_worst_ms", "worst player", "Round trip", "ms", false},
	srvBuffer:      {"input_buffer_ms", "median player", "Input buffer", "ms", false},
	srvBufferLeast: {"input_buffer_least_ms", "least (below 0: too late)", "Input buffer", "ms", false},
	srvRewind:      {"rewind_ms", "median player", "Rewind", "ms", false},
	srvRewindWorst: {"rewind_worst_ms", "longest", "Rewind", "ms", false},
	srvLostOut:     {"lost_out", "packets lost to players", "Loss by cause", "in the tick", true},
	srvLostIn:      {"lost_in", "packets lost from players", "Loss by cause", "in the tick", true},
	srvMissing:     {"inputs_missing", "inputs missing", "Loss by cause", "in the tick", true},
	srvLateInputs:  {"inputs_late", "inputs too late", "Loss by cause", "in the tick", true},
	srvRejected:    {"inputs_rejected", "inputs refused", "Loss by cause", "in the tick", true},
	srvMalformed:   {"malformed", "packets malformed", "Loss by cause", "in the tick", true},
	srvRefused:     {"packets_refused", "not sent by the transport", "Loss by cause", "in the tick", true},
	srvOut:         {"bytes_out", "sent" + debugNote, "Traffic", "B", true},
	srvIn:          {"bytes_in", "received" + debugNote, "Traffic", "B", true},
	srvPlayers:     {"players", "players", "Players", "", false},
	srvQueued:      {"queued_bytes", "longest queue of messages", "Message queue", "B", false},
}

// chartSystems is the chart with a series for each system.
const chartSystems = "Time by system"

func newServerEnd(in *Inspector, name string, s *server.Server) *end {
	x := &serverEnd{s: s, probe: probe.OfServer(s), seats: map[foretick.PlayerID]stats.Player{}}
	x.end = newEnd(in, name, "server", x.probe, func() string { return s.Stats().String() })
	x.collect, x.world = x, s.World
	var lines []Series
	x.bytes, lines = newByteCount(&in.cfg, x.probe)
	x.series = append(append(x.series, serverSeries[:]...), lines...)
	var now stats.Server
	s.Figures(&now) // safe while the server runs
	for _, t := range now.Systems {
		x.series = append(x.series, Series{"system_ms." + t.Name, t.Name, chartSystems, "ms", false})
	}
	return x.end
}

func (x *serverEnd) install() {
	x.first = true
	x.bytes.install()
	clear(x.seats)
	x.probe.Corrected(func(player foretick.PlayerID, m prediction.Misprediction) {
		x.in.reported(x.name, uint16(player), &m)
	})
}

func (x *serverEnd) removeHooks() {
	x.bytes.stopCounting()
	x.probe.Corrected(nil)
}

func (x *serverEnd) sampleFigures(t probe.Tapped, row []float32) (Tick, bool) {
	st := x.s.Stats()
	row[srvTook], row[srvLate] = ms(t.Took), ms(t.Late)
	sums := x.lookAtPlayers(t.Tick, row)
	if !x.first {
		row[srvLostOut], row[srvLostIn] = grown(sums.PacketsLost, x.sums.PacketsLost), grown(sums.PacketsLostIn, x.sums.PacketsLostIn)
		row[srvLateInputs] = grown(sums.InputsLate, x.sums.InputsLate)
		row[srvMissing], row[srvRejected] = grown(st.InputsMissing, x.before.InputsMissing), grown(st.InputsRejected, x.before.InputsRejected)
		row[srvMalformed], row[srvRefused] = grown(st.Malformed, x.before.Malformed), grown(st.PacketsRefused, x.before.PacketsRefused)
		row[srvTicksLost] = grown(st.TicksLost, x.before.TicksLost)
		row[srvOut], row[srvIn] = grown(st.BytesOut, x.before.BytesOut), grown(st.BytesIn, x.before.BytesIn)
	}
	x.before, x.sums, x.first = st, sums, false
	x.bytes.addBytes(row[srvFixed:])
	at := srvFixed + x.bytes.lines
	for i, t := range x.probe.SystemTimes() {
		row[at+i] = ms(t.Last)
	}
	return t.Tick, false
}

// lookAtPlayers fills in the figures of players. It adds events for players that joined, left,
// reconnected, or whose input is missing or was refused.
func (x *serverEnd) lookAtPlayers(t Tick, row []float32) (sums stats.Player) {
	x.players = x.s.Players(x.players[:0])
	x.rtt, x.buffer, x.rewind = x.rtt[:0], x.buffer[:0], x.rewind[:0]
	for _, p := range x.players {
		st, ok := x.s.PlayerStats(p)
		if !ok {
			continue
		}
		was, known := x.seats[p.ID]
		known = known && was.SessionNumber == st.SessionNumber
		x.noteSeat(t, p.ID, &was, &st, known)
		x.seats[p.ID] = st
		sums.PacketsLost += st.PacketsLost
		sums.PacketsLostIn += st.PacketsLostIn
		sums.InputsLate += st.InputsLate
		row[srvQueued] = max(row[srvQueued], float32(st.Queued))
		if st.RTT > 0 {
			x.rtt, x.buffer, x.rewind = append(x.rtt, st.RTT), append(x.buffer, st.InputBuffer), append(x.rewind, st.RenderDelay)
		}
	}
	for p := range x.seats {
		if !slices.ContainsFunc(x.players, func(of server.Player) bool { return of.ID == p }) {
			delete(x.seats, p)
			x.in.events.addEvent(Event{End: x.name, Tick: t, Kind: "player", Cause: "left", Player: uint16(p), Text: fmt.Sprintf("player %d left", p)})
		}
	}
	row[srvPlayers] = float32(len(x.players))
	row[srvRTT], row[srvRTTWorst] = middle(x.rtt)
	row[srvRewind], row[srvRewindWorst] = middle(x.rewind)
	row[srvBuffer], _ = middle(x.buffer)
	if len(x.buffer) > 0 {
		row[srvBufferLeast] = ms(x.buffer[0]) // sorted
	}
	return sums
}

func (x *serverEnd) noteSeat(t Tick, p foretick.PlayerID, was, st *stats.Player, known bool) {
	e := Event{End: x.name, Tick: t, Kind: "input", Player: uint16(p)}
	switch {
	case !known && !x.first:
		e.Kind, e.Cause, e.Text = "player", "joined", fmt.Sprintf("player %d joined", p)
	case !known:
		return
	case was.ConnectionNumber != st.ConnectionNumber:
		e.Kind, e.Cause, e.Text = "player", "reconnected", fmt.Sprintf("player %d has a new connection", p)
	case st.InputsRejected > was.InputsRejected:
		e.Cause, e.Text = "refused", fmt.Sprintf("player %d: the game's check refused the command of this tick", p)
	case st.InputsMissing > was.InputsMissing:
		e.Cause, e.Text = "missing", fmt.Sprintf("player %d: the command of this tick did not arrive in time; a replacement ran", p)
	default:
		return
	}
	x.in.events.addEvent(e)
}

// middle sorts durations and returns the median and the longest in milliseconds.
func middle(of []time.Duration) (median, longest float32) {
	if len(of) == 0 {
		return 0, 0
	}
	slices.Sort(of)
	return ms(of[len(of)/2]), ms(of[len(of)-1])
}

func ms(d time.Duration) float32 { return float32(d.Seconds() * 1000) }

// grown returns by how much a counter grew, 0 if the counter was reset.
func grown(now, before uint64) float32 { return float32(now - min(before, now)) }
