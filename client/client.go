package client

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/cause"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/misuse"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport"
)

// Client plays one player's part. Step does the work; it is not safe for
// concurrent use. Stats may be called by any goroutine.
type Client struct {
	base
	requestBox
	link      link
	input     input
	ghosts    ghosts
	timeline  timeline
	screen    screen
	reasons   cause.Log // what the server reported about the causes of mispredictions
	board     board     // what other goroutines may read
	inspected inspected

	stepping bool // Step is running
	closing  bool // Close was called within Step
	closed   bool
	broke    error // broke is the error of closing the endpoint.
	begun    bool
	start    time.Time
	read     time.Time    // the clock's time in the newest Step
	time     netcode.Time // the session's time in the current Step
}

// New makes a client that greets the server with its first Steps. The error lists
// every fault of the configuration and the protocol. On an error the Transport stays the
// caller's: close it.
func New(cfg Config) (*Client, error) {
	if err := cfg.checkConfig(); err != nil {
		return nil, err
	}
	p := compiledOf(cfg.Protocol)
	if cfg.Verify != nil {
		if err := p.Registry.Verify(false, cfg.Verify); err != nil {
			return nil, err
		}
	}
	c := &Client{base: newBase(cfg)}
	c.running = bindFrame(&c.frame, c.frames)
	c.requestBox = game.NewAsker(c.queueRequest)
	tl := &c.timeline
	end := &frameEnd{
		&c.base, &c.link, &c.input, &c.ghosts, &c.screen, &tl.recorder, &tl.saves, &tl.spawning, &tl.clientOnly,
		&tl.predicted, &tl.looks, &tl.tester, &tl.trails,
	}
	c.frames.Attach(end)
	c.frames.Around = []game.SystemHook{end}
	c.losses = game.NewLosses(&p.Facts, cfg.Logger, c.world, &c.frame.Tick, c.running, &c.stats.ValuesOutside, &c.stats.ChangesSwallowed)
	c.link = newLink(&c.base)
	c.input = newInput(&c.base)
	c.ghosts = newGhosts(&c.base)
	c.timeline.init(&c.base, &c.input, &c.ghosts, &c.reasons)
	if err := c.timeline.initScreen(&c.screen); err != nil {
		return nil, err
	}
	if err := c.fresh(); err != nil {
		return nil, err
	}
	if game.DebugBuild {
		p.Watch(true)
	}
	return c, nil
}

// fresh forgets everything that belonged to a connection.
func (c *Client) fresh() error {
	c.input.clearInput()
	c.link.clock, c.link.newest = nil, 0
	c.link.level.entered, c.link.wish.asked, c.link.wish.granted = false, false, false
	return c.clearLevel()
}

// View returns the result of the last Step.
func (c *Client) View() View { return c.view }

// Close leaves the match and closes the transport. It sends requests again until the server
// has acknowledged them, which takes a round trip, and at most a second. Without any, with a
// WebSocket and in a browser it does not wait. In a function that Step calls, such as a
// handler or a render system, it returns nil and takes effect at the end of the Step.
func (c *Client) Close() error {
	if c.stepping {
		c.closing = true
		return nil
	}
	return c.closeClient()
}

func (c *Client) closeClient() error {
	if c.closed {
		return transport.ErrClosed
	}
	c.closed = true
	defer c.post()
	last := game.Partings{Endpoint: c.link.endpoint, From: c.now, Most: game.LastWords}
	if c.link.up && c.view.State != Closed && c.link.conn.Pending() > 0 {
		last.All = append(last.All, game.Parting{Peer: c.link.peer, Conn: c.link.conn, Code: transport.Closed, Reason: ""})
	} else if c.link.up {
		c.link.endpoint.Disconnect(c.link.peer, transport.Closed, "")
	}
	c.link.endConnection(&transport.DisconnectError{Code: transport.Closed})
	c.broke = last.CloseEndpoint(transport.Closed, "")
	return c.broke
}

// board has the data that a client shows to other goroutines.
type board struct {
	mu    sync.Mutex
	stats stats.Client
}

// State is the state of a client's connection: Connecting, Syncing, Resuming, Playing
// or Closed.
type State uint8

// The states, in their order.
const (
	// Connecting: the transport is not up yet, or the server has not answered.
	Connecting State = iota
	// Syncing: admitted; the first snapshots are being buffered.
	Syncing
	// Resuming: the connection was lost, and the client reconnects. The world does not
	// change.
	Resuming
	// Playing: commands are sampled, predicted and sent. The first frame shows the player's own
	// entities without others: those appear when View.RenderTick has reached the tick of the
	// first snapshot (see Config.OnSnapshot). An observer that receives the match is Playing, too.
	Playing
	// Closed: the connection ended; View.Err says why.
	Closed
)

// String returns the state in lower case, such as "playing".
func (s State) String() string {
	return [...]string{"connecting", "syncing", "resuming", "playing", "closed", "?", "?", "?"}[s&7]
}

// View is what to draw, as Client.Step returns it. Until the next Step the world holds the
// values to show. Remote entities are interpolated at the render time. The local player is
// predicted and interpolated between two ticks, with its corrections fading.
type View struct {
	// State is the state of the client's connection.
	State State
	// Err is why the connection ended, in state Closed: a [*ProtocolError], or a
	// [*transport.DisconnectError] with the code and text. nil in any other state.
	Err error
	// World holds the values that are shown.
	World *ecs.World
	// Player is the local player; [ecs.Nobody] before state Syncing. Its entities in World
	// are those with this owner: find its one body with [ecs.Query.FirstOwned], all with
	// [ecs.Query.Owned], or compare [ecs.Rows.Owner]. For an observer it is the player whose view it was granted, or
	// Nobody.
	Player foretick.PlayerID
	// Tick is the newest predicted tick. Fraction is the position of the rendered frame
	// between the tick before it and Tick, 0 to 1. With Config.PartialTicks it is 1
	// to 2: the frame shows Tick and that part of the tick after it.
	Tick     foretick.Tick
	Fraction float32 // position of the rendered frame between the tick before Tick and Tick, 0 to 1
	// Stalled is true while nothing comes from the server and the prediction has used up
	// its history. The local player does not move until the server sends again. After
	// Config.Timeout of silence the state changes.
	Stalled bool
	// Unread is true while snapshots arrive that this client cannot read. The match goes on
	// with what it has. The server is told, and leaves out the entity that it cannot read.
	Unread bool
	// InputDelay is the time from a command to its effect on the local player. It is what
	// [Config.InputDelay] and DelayAbove ask for, and more if the round trip is too
	// long for the history (see [Config.MaxRTT]).
	InputDelay time.Duration
	// Lead is how far the player's commands are ahead of the server's snapshots when these
	// arrive, on average. All of it except InputDelay is predicted.
	Lead time.Duration
	// RenderTick and RenderFraction are the moment that remote entities are drawn at, in the
	// past: RenderFraction (0 to 1) of the way from RenderTick to the next tick.
	RenderTick     foretick.Tick
	RenderFraction float32 // position between RenderTick and the next tick, 0 to 1
}

// base has the data that every part of a client uses.
type base struct {
	hooks   peerHooks
	cfg     Config
	p       *compiled // this build's protocol, or that of a server of another build
	build   *compiled // this build's protocol
	world   *ecs.World
	frame   foretick.Frame
	frames  *frameState     // implements what the frame calls
	running *game.SystemRun // the frame's current run of a system
	view    View
	now     time.Duration // the time of the current Step
	// practice is true while a tick runs only to find its effects, which are then undone.
	practice bool
	// rendering is true while render systems run.
	rendering bool
	stats     stats.Client
	losses    game.Losses

	tracer  *traceMember
	reports correctionReports
	counts  causeCounts

	techniques Techniques // those in effect
	// wanted are those that SetTechniques set last. The next Step applies them.
	wanted Techniques

	architecture string // what this program runs on
	// serverArchitecture is what the server runs on. It is empty if the server did not report it.
	serverArchitecture string
}

// newBase makes the world, and all else that the parts share.
func newBase(cfg Config) base {
	p := compiledOf(cfg.Protocol)
	w := ecs.NewWorld(p.Types, ecs.WorldConfig{}) // its tags are set below, and with each Welcome
	ecs.Engine(w).WatchOutside(true)
	queues := p.NewQueues()
	if cfg.NoPrediction {
		for _, q := range queues {
			q.Wait(true)
		}
	}
	b := base{
		cfg: cfg, p: p, build: p, world: w, tracer: &traceMember{}, view: View{World: w},
		techniques: Techniques{NoPrediction: cfg.NoPrediction}, wanted: Techniques{NoPrediction: cfg.NoPrediction},
		architecture: runtime.GOARCH,
		frame:        foretick.Frame{World: w, DT: 1 / float32(p.TickRate)}, frames: game.NewState(w, p.TickRate, queues),
	}
	w.SetTags(b.worldTags(0)...)
	return b
}

// showsAhead reports whether other players' entities are drawn ahead of the server.
func (b *base) showsAhead() bool {
	return (b.p.Common || b.p.Remote.Predicts) && !b.p.Remote.Missing && !b.cfg.NoPrediction
}

// spawnPrefab returns a prefab as the server has it, and its number on the server.
func (b *base) spawnPrefab(k *ecs.Prefab) (*layout.Prefab, uint16) {
	if i := b.p.PrefabOf(k); i >= 0 {
		return &b.p.Prefabs[i], uint16(i)
	}
	own := b.build
	i := own.PrefabOf(k)
	if i < 0 {
		misuse.Panicf("foretick: SpawnBy of prefab %q, which is not declared with Protocol.Prefab", k.Name())
	}
	return &own.Prefabs[i], unknownPrefab
}

// unknownPrefab is the number of a prefab that a server of another build does not have.
const unknownPrefab = 1<<16 - 1

// ownPrefab returns the prefab of an identity, as this build declared it.
func (b *base) ownPrefab(id *game.NetworkID) *layout.Prefab {
	return b.build.PrefabNamed(id)
}

// spawnConfig returns the game's spawn callbacks for a prefab, by this build's number.
func (b *base) spawnConfig(kind int) *game.Spawn[*foretick.Frame] {
	if s := b.build.Handlers.Spawns[kind]; s != nil {
		return s
	}
	return &game.Spawn[*foretick.Frame]{}
}

func (b *base) tellSpawn(fn func(*foretick.Frame, ecs.Entity), e ecs.Entity) {
	if fn != nil {
		fn(&b.frame, e)
	}
}

func (b *base) reportDesync(d probe.Desync) {
	if b.hooks.desync != nil {
		b.hooks.desync(d)
	}
}

// commandsKept returns for how many ticks commands are kept. They run ahead of the newest snapshot by a
// round trip, which may be longer than the prediction reaches; the rest is input delay.
func (b *base) commandsKept() int {
	return max(b.cfg.History*2, longestTrip*b.p.TickRate+b.cfg.History)
}

// peerHooks has functions that are called for messages, requests and desyncs, in order.
type peerHooks struct {
	message  []func(probe.MessageReceived)
	request  []func(probe.RequestSent)
	desync   func(probe.Desync)
	syncTest int // how many ticks are run again after each tick

	explained bool                           // an inspector has replaced OnMisprediction
	explain   func(prediction.Misprediction) // the OnMisprediction that an inspector has replaced
}

// errObserves is the error for requests of an observer.
var errObserves = fmt.Errorf("%w: an observer sends no requests", foretick.ErrNotPlaying)

// SetEye sets the position that this client, an observer, looks from: with [foretick.Interest] it
// receives the entities near to that position. The server ignores the position if its
// server.Grant is that of a player or has FollowOnly. Without an eye, an observer receives no entity with a
// position, unless its Grant is Everything. SetEye does nothing for a position that is not
// finite, and for a client that plays: the server sets where a player looks from (see
// [foretick.ServerFrame.SetEye]).
func (c *Client) SetEye(x, y, z float32) {
	if c.cfg.Observe != nil && x-x == 0 && y-y == 0 && z-z == 0 { // if x is not finite, x-x is NaN
		c.link.looks, c.link.eye = true, netcode.Eye{Has: true, X: x, Y: y, Z: z}
	}
}

// Follow makes an observer look from where a player looks, as it moves: with [foretick.Interest] it
// receives what is near to there. 0 means nobody. Every server.Grant but that of one player allows it.
// It does nothing for a client that plays.
func (c *Client) Follow(player foretick.PlayerID) {
	if c.cfg.Observe != nil {
		c.link.looks, c.link.eye = true, netcode.Eye{Player: uint16(player)}
	}
}

// worldTags returns the tags of a client's world in a match: the client's own, and those of shared
// systems that the server has. theirs has the server's as bits, from its Welcome.
func (b *base) worldTags(theirs uint64) []string {
	tags := append([]string{foretick.TagClient, foretick.TagRender}, b.cfg.Tags...)
	own := b.build // a server of another build may have more
	for i, tag := range b.p.Tags {
		if theirs>>i&1 != 0 && slices.Contains(own.Tags, tag) { // a server of another build may have more
			tags = append(tags, tag)
		}
	}
	return tags
}
