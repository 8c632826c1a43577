package foretick

import (
	"runtime"
	"time"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/stats"
)

// ClientState is the state of a client's connection: Connecting, Syncing, Resuming, Playing
// or Closed.
type ClientState uint8

// The states, in their order.
const (
	// Connecting: the transport is not up yet, or the server has not answered.
	Connecting ClientState = iota
	// Syncing: admitted; the first snapshots are being buffered.
	Syncing
	// Resuming: the connection was lost, and the client reconnects. The world does not
	// change.
	Resuming
	// Playing: commands are sampled, predicted and sent.
	Playing
	// Closed: the connection ended; View.Err says why.
	Closed
)

// String returns the state in lower case, such as "playing".
func (s ClientState) String() string {
	return [...]string{"connecting", "syncing", "resuming", "playing", "closed", "?", "?", "?"}[s&7]
}

// View is what to draw, as Client.Step returns it. Until the next Step the world holds the
// values to show. Remote entities are interpolated at the render time. The local player is
// predicted and interpolated between two ticks, with its corrections fading.
type View struct {
	// State is the state of the client's connection.
	State ClientState
	// Err is why the connection ended, in state Closed: a [*ProtocolError], or a
	// [*transport.DisconnectError] with the code and text. nil in any other state.
	Err error
	// World holds the values that are shown.
	World *ecs.World
	// Player is the local player; [ecs.Nobody] before state Syncing. Its entities in World
	// are those with this owner: find its one body with [ecs.Query.FirstOwned], all with
	// [ecs.Query.Owned], or compare [ecs.Rows.Owner]. For an observer it is the player whose view it was granted, or
	// Nobody.
	Player PlayerID
	// Tick is the newest predicted tick. Fraction is the position of the rendered frame
	// between the tick before it and Tick, 0 to 1. With ClientConfig.PartialTicks it is 1
	// to 2: the frame shows Tick and that part of the tick after it.
	Tick     Tick
	Fraction float32 // position of the rendered frame between the tick before Tick and Tick, 0 to 1
	// Stalled is true while nothing comes from the server and the prediction has used up
	// its history. The local player does not move until the server sends again. After
	// ClientConfig.Timeout of silence the state changes.
	Stalled bool
	// Unread is true while snapshots arrive that this client cannot read. The match goes on
	// with what it has. The server is told, and leaves out the entity that it cannot read.
	Unread bool
	// InputDelay is the time from a command to its effect on the local player. It is what
	// [ClientConfig.InputDelay] and DelayAbove ask for, and more if the round trip is too
	// long for the history (see [ClientConfig.MaxRTT]).
	InputDelay time.Duration
	// Lead is how far the player's commands are ahead of the server's snapshots when these
	// arrive, on average. All of it except InputDelay is predicted.
	Lead time.Duration
	// RenderTick and RenderFraction are the moment that remote entities are drawn at, in the
	// past: RenderFraction (0 to 1) of the way from RenderTick to the next tick.
	RenderTick     Tick
	RenderFraction float32 // position between RenderTick and the next tick, 0 to 1
}

// clientBase is what every part of a client reads.
type clientBase struct {
	hooks  clientHooks
	cfg    ClientConfig
	p      *compiled // ours, or as a server of another build speaks it
	world  *ecs.World
	frame  Frame
	view   View
	now    time.Duration // of the Step that runs
	stats  stats.Client
	losses losses

	tracer  *clientTrace
	reports clientReports
	counts  clientCounts

	techniques probe.Techniques // in force
	wanted     probe.Techniques // by setTechniques, from the next Step on

	architecture       string // that this program runs on
	serverArchitecture string // and the server; empty: it did not say
}

// newClientBase makes the world, and what all parts share.
func newClientBase(cfg ClientConfig) clientBase {
	p := &cfg.Protocol.compiled
	w := ecs.NewWorld(p.Types, ecs.WorldConfig{}) // its tags: below, and with each Welcome
	w.WatchOutside(true)
	queues := p.newQueues()
	if cfg.NoPrediction {
		for _, q := range queues {
			q.wait(true)
		}
	}
	b := clientBase{
		cfg: cfg, p: p, world: w, tracer: &clientTrace{}, view: View{World: w},
		techniques: probe.Techniques{NoPrediction: cfg.NoPrediction}, wanted: probe.Techniques{NoPrediction: cfg.NoPrediction},
		architecture: runtime.GOARCH,
		frame:        Frame{World: w, DT: 1 / float32(p.TickRate), rate: p.TickRate, queues: queues},
	}
	w.SetTags(b.worldTags(0)...)
	return b
}

// showsAhead reports whether other players' entities are drawn ahead.
func (b *clientBase) showsAhead() bool {
	return (b.p.Common || b.p.Remote.Predicts) && !b.p.Remote.Missing && !b.cfg.NoPrediction
}

// spawnPrefab is a prefab as the server has it, with the number that it has there.
func (b *clientBase) spawnPrefab(k *ecs.Prefab) (*layout.Prefab, uint16) {
	if i := b.p.PrefabOf(k); i >= 0 {
		return &b.p.Prefabs[i], uint16(i)
	}
	own := &b.cfg.Protocol.compiled
	i := own.PrefabOf(k)
	if i < 0 {
		misuse("SpawnBy of prefab %q, which is not declared with Protocol.Prefab", k.Name())
	}
	return &own.Prefabs[i], unknownPrefab
}

// unknownPrefab is the number of a prefab that a server of another build does not have.
const unknownPrefab = 1<<16 - 1

// ownPrefab returns the prefab of an identity, as this build declared it.
func (b *clientBase) ownPrefab(id *networkID) *layout.Prefab {
	return b.cfg.Protocol.compiled.prefabNamed(id)
}

// spawnConfig returns the game's spawn callbacks for a prefab, by this build's number.
func (b *clientBase) spawnConfig(kind int) *SpawnConfig {
	if s := b.cfg.Protocol.compiled.handlers.spawns[kind]; s != nil {
		return s
	}
	return &SpawnConfig{}
}

func (b *clientBase) tellSpawn(fn func(*Frame, ecs.Entity), e ecs.Entity) {
	if fn != nil {
		fn(&b.frame, e)
	}
}

func (b *clientBase) reportDesync(d probe.Desync) {
	if b.hooks.desync != nil {
		b.hooks.desync(d)
	}
}

// commandsKept is the number of ticks whose commands are kept. Commands are ahead of the newest
// snapshot by a round trip, which may be longer than the prediction reaches: the rest is input
// delay.
func (b *clientBase) commandsKept() int {
	return max(b.cfg.History*2, longestTrip*b.p.TickRate+b.cfg.History)
}
