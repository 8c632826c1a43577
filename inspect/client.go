package inspect

import (
	"time"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/stats"
)

// clientEnd collects the figures of a client.
type clientEnd struct {
	*end
	c      *client.Client
	probe  probe.Client
	before stats.Client
	tick   Tick // tick of the newest row
	row    []float32
	bytes  byteCount
	first  bool
}

// The series of a client, in their order.
const (
	cliTook = iota
	cliStep
	cliRTT
	cliJitter
	cliInput
	cliInputTarget
	cliSnapshot
	cliSnapshotTarget
	cliScale
	cliRenderScale
	cliLead
	cliDelay
	cliRewind
	cliLostOut
	cliLostIn
	cliOrder
	cliDuplicate
	cliStale
	cliDamaged
	cliMalformed
	cliSnapshotStale
	cliOut
	cliIn
	cliWrong
	cliSoft
	cliAgain
	cliSeries
)

var clientSeries = [cliSeries]Series{
	cliTook:           {"tick_ms", "time of the tick's Steps", "Tick", "ms", false},
	cliStep:           {"step_ms", "longest Step", "Tick", "ms", false},
	cliRTT:            {"rtt_ms", "round trip", "Round trip", "ms", false},
	cliJitter:         {"jitter_ms", "jitter", "Round trip", "ms", false},
	cliInput:          {"input_buffer_ms", "fill", "Input buffer", "ms", false},
	cliInputTarget:    {"input_buffer_target_ms", "target", "Input buffer", "ms", false},
	cliSnapshot:       {"snapshot_buffer_ms", "fill", "Snapshot buffer", "ms", false},
	cliSnapshotTarget: {"snapshot_buffer_target_ms", "target", "Snapshot buffer", "ms", false},
	cliScale:          {"time_scale", "predicted time", "Time scale", "×", false},
	cliRenderScale:    {"render_time_scale", "render time", "Time scale", "×", false},
	cliLead:           {"lead_ms", "lead of the inputs", "Delay", "ms", false},
	cliDelay:          {"input_delay_ms", "input delay", "Delay", "ms", false},
	cliRewind:         {"rewind_ms", "others are drawn behind by", "Rewind", "ms", false},
	cliLostOut:        {"lost_out", "packets lost to the server", "Loss by cause", "in the tick", true},
	cliLostIn:         {"lost_in", "packets lost from the server", "Loss by cause", "in the tick", true},
	cliOrder:          {"out_of_order", "out of order", "Loss by cause", "in the tick", true},
	cliDuplicate:      {"duplicate", "duplicates", "Loss by cause", "in the tick", true},
	cliStale:          {"stale", "too old", "Loss by cause", "in the tick", true},
	cliDamaged:        {"damaged", "damaged", "Loss by cause", "in the tick", true},
	cliMalformed:      {"malformed", "malformed", "Loss by cause", "in the tick", true},
	cliSnapshotStale:  {"snapshots_stale", "snapshots after newer ones", "Loss by cause", "in the tick", true},
	cliOut:            {"bytes_out", "sent" + debugNote, "Traffic", "B", true},
	cliIn:             {"bytes_in", "received" + debugNote, "Traffic", "B", true},
	cliWrong:          {"mispredictions", "corrections", "Corrections", "in the tick", true},
	cliSoft:           {"soft_corrections", "within the tolerance", "Corrections", "in the tick", true},
	cliAgain:          {"resimulated", "ticks run again", "Corrections", "in the tick", true},
}

func newClientEnd(in *Inspector, name string, c *client.Client) *end {
	x := &clientEnd{c: c, probe: probe.OfClient(c)}
	x.end = newEnd(in, name, "client", x.probe, func() string { return c.Stats().String() })
	x.collect, x.world = x, func() *ecs.World { return c.View().World }
	var lines []Series
	x.bytes, lines = newByteCount(&in.cfg, x.probe)
	x.series = append(append(x.series, clientSeries[:]...), lines...)
	x.row = make([]float32, len(x.series))
	return x.end
}

func (x *clientEnd) install() {
	x.first, x.tick = true, 0
	clear(x.row)
	x.bytes.install()
	x.probe.Explained(func(m prediction.Misprediction) { x.in.corrected(x.name, &m) })
}

func (x *clientEnd) removeHooks() {
	x.bytes.stopCounting()
	x.probe.Explained(nil)
}

// sampleFigures adds the figures of a Step to the row of its tick, since there are more Steps than
// ticks. The row of the first tick also has the counts of the Steps before it.
func (x *clientEnd) sampleFigures(t probe.Tapped, row []float32) (Tick, bool) {
	st, v := x.c.Stats(), x.c.View()
	again := t.Tick == x.tick
	switch {
	case again:
	case x.tick == 0:
		x.row[cliTook], x.row[cliStep] = 0, 0
	default:
		clear(x.row)
	}
	was := &x.before
	if x.first {
		was = &st
	}
	x.gauges(&st, &v)
	took := ms(t.Took)
	x.row[cliTook], x.row[cliStep] = x.row[cliTook]+took, max(x.row[cliStep], took)
	x.bytes.addBytes(x.row[cliSeries:])
	now, before := &st.Connection, &was.Connection
	if now.Sent < before.Sent {
		before = now // the counters are those of a new connection
	}
	for i, of := range [...]struct{ now, before uint64 }{
		{now.Lost, before.Lost}, {now.LostIn, before.LostIn}, {now.OutOfOrder, before.OutOfOrder}, {now.Duplicate, before.Duplicate},
		{now.Stale, before.Stale}, {now.Checksum, before.Checksum}, {st.Malformed, was.Malformed}, {st.SnapshotsStale, was.SnapshotsStale},
		{st.BytesOut, was.BytesOut}, {st.BytesIn, was.BytesIn},
		{st.Mispredictions, was.Mispredictions}, {st.SoftCorrections, was.SoftCorrections}, {st.Resimulated, was.Resimulated},
	} {
		x.row[cliLostOut+i] += grown(of.now, of.before)
	}
	x.before, x.tick, x.first = st, t.Tick, false
	copy(row, x.row)
	return t.Tick, again
}

func (x *clientEnd) gauges(st *stats.Client, v *client.View) {
	clock := &st.Clock
	x.row[cliRTT], x.row[cliJitter] = ms(st.Connection.RTT), ms(st.Connection.Jitter)
	x.row[cliInput], x.row[cliInputTarget] = ms(clock.InputBuffer), ms(clock.InputBufferTarget)
	x.row[cliSnapshot], x.row[cliSnapshotTarget] = ms(clock.SnapshotBuffer), ms(clock.SnapshotBufferTarget)
	x.row[cliScale], x.row[cliRenderScale] = float32(clock.TimeScale), float32(clock.RenderTimeScale)
	x.row[cliLead], x.row[cliDelay] = ms(v.Lead), ms(v.InputDelay)
	if v.State == client.Playing {
		tick := time.Second / time.Duration(x.internals.Layout().TickRate)
		behind := float32(int32(v.Tick-v.RenderTick-1)) + v.Fraction - v.RenderFraction
		x.row[cliRewind] = behind * ms(tick)
	}
}
