package server

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/guard"
	"github.com/foretick/foretick/internal/standard"
	"github.com/foretick/foretick/internal/tape"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/transport"
)

// Config sets a Server up. Protocol and Transport are required. Zero in any other
// field means the default named.
type Config struct {
	// Protocol is the declaration that server and clients share. Required.
	Protocol *foretick.Protocol
	// Transport is the listening endpoint that clients connect through. Required. The server
	// reads it, and closes it only in Close.
	Transport transport.Endpoint
	// MaxClients is how many clients may play at once. More are refused. 0 means the limit
	// of the transport (its Config.MaxPeers), less MaxObservers if Observe is set, or 64 if
	// the transport has none. At most 4096, and at most that limit. Negative is an error. The world has room for 65 535
	// combinations of owner and component set ([ecs.World.Used]). Newcomers are refused
	// when nine tenths of that are taken. When all are taken and an entity of a player
	// needs one more, the player is dropped with [transport.Full]. That entity has no owner
	// until the player has left.
	MaxClients int
	// Observe, when set, decides what a client may see that wants to observe the match and
	// not play (see client.Config.Observe). An error refuses it with the error's text. nil
	// refuses every observer. The server calls it in Step, before a tick. It may read the
	// world, and must not change it. An observer has no player number, runs no OnJoin, takes
	// no place of MaxClients, and sends no commands and no requests. It holds no place after
	// a lost connection.
	Observe func(Observer) (Grant, error)
	// MaxObservers is how many clients may observe at once. More are refused. 0 means 16.
	// Negative is an error. At most 4096. With Observe set, the transport must take
	// MaxClients and MaxObservers peers together.
	MaxObservers int
	// SnapshotRate is the number of snapshots a second for each client. It must divide the
	// tick rate. 0 means one a tick. Negative is an error.
	SnapshotRate int
	// SendRate limits the data sent to one client, in bytes a second of the transport's
	// payload: a bandwidth, not a number of packets. 0 means 32 000. Negative is an error. At most 2³⁰.
	SendRate int
	// Timeout is the silence after which a client is disconnected. 0 means 5 s. Negative
	// is an error. 100 ms to 24 h.
	Timeout time.Duration
	// RepeatInput is the time for which the last command received, without its one-shots,
	// replaces missing ones. After that time [foretick.Decay] makes the replacements, if the game
	// has one, for DecayInput. Then they are zero. 0 means 250 ms. Negative never repeats.
	// At most a minute.
	RepeatInput time.Duration
	// DecayInput is the time after RepeatInput for which the game's [foretick.Decay] runs. 0 means
	// 250 ms. Negative means none, as without a Decay. At most a minute.
	DecayInput time.Duration
	// Late is what happens to a command that comes after its tick. The zero value drops it, and the
	// player is corrected.
	Late Late
	// MaxRewind limits the age of the past that a shot may hit, counted back from the tick
	// that runs the shot's command. A shot at an older moment is not refused: it is judged
	// at the oldest moment allowed. 0 means 600 ms and the time of two snapshots, by which a client
	// with lost packets draws others later. Negative turns rewinding off, like NoLagCompensation. At
	// most 1 s.
	MaxRewind time.Duration
	// RewindGrowth limits how much a player's rewind limit may grow when its latency rises
	// in mid-match. Latency here is round trip and drawing delay together, compared with
	// the player's first five seconds of play. The limit grows by 200 ms a second, and
	// falls back within 2 s when the latency does. 0 means 150 ms. A cheater who fakes a
	// slower path gains that much. Negative allows no growth: an honest player whose path
	// slows by a tick or more then misses most shots that hit on its screen, until
	// [Server.RemeasureLatency] or a new connection. At most 1 s. MaxRewind still applies.
	RewindGrowth time.Duration
	// NoLagCompensation judges every shot in the present. For comparison only.
	NoLagCompensation bool
	// ReconnectWindow is the time for which a player may come back after a lost
	// connection. Its place is held: its entities stay in the world, its commands are
	// replaced like any that are missing (see RepeatInput and DecayInput), and its reliable
	// messages wait (see [foretick.Message.Send]). 0 means 30 s. Negative holds no place. At most a
	// year. A place is held at most for the time that the player has played, and only after
	// a lost connection: not after the player left, was kicked, or broke the rules.
	ReconnectWindow time.Duration
	// Same decides what happens when a client comes with the identity of somebody who plays,
	// without that player's token: by another transport of package multi, from another device,
	// or before the loss of the old connection was noticed. [transport.ReplaceOld], the
	// default, gives it that player's place and drops the old connection with Replaced.
	// RefuseNew refuses it with Refused, and AllowBoth lets both play. A place that is held
	// for an absent player goes to its identity in each case, and so does any place to its
	// token. An endpoint's own Same comes first, for its own connections: to let
	// an identity play twice, set AllowBoth in both. Identities come from the endpoint's accept
	// hook; an empty one equals no other.
	Same transport.Same
	// KeepPlaces makes a full server refuse newcomers while it holds places for absent players, for
	// ranked matches whose players have tickets. With false a newcomer gets the place of the absent
	// player that has played for the shortest time. If two played equally long, the one absent for
	// longer loses its place. That player leaves the match. When it comes back, its token gets it a new
	// place if one is free. In either case MaxHeldPerAddress applies.
	KeepPlaces bool
	// MaxHeldPerAddress limits the places held for absent players of one address. Beyond it,
	// the absent player of that address that has played for the shortest time loses its
	// place. An IPv6 /64 counts as one address. 0 means a quarter of MaxClients, and at least
	// one. Negative means no limit, for tests with many clients on one machine. At most 4096.
	MaxHeldPerAddress int
	// MaxWaitingPerAddress limits the connections of one address that do not play yet. More
	// are refused. A connection stops counting after two seconds of play. An IPv6 /64
	// counts as one address. 0 means 32. Negative means no limit. At most 2²⁰. Transports
	// limit waiting connections by address too, with the same default.
	MaxWaitingPerAddress int
	// AllowOtherBuilds lets in clients of other builds of the game. They must have the
	// same name, version, tick rate and channels. They receive the schema, and match their
	// own components, fields, command and messages with it by name. false refuses them
	// with a client.ProtocolError. Raise the protocol's version for a change after which old
	// clients must not play.
	AllowOtherBuilds bool
	// Random makes the tokens that players come back with, and the number that tells this
	// server from a restarted one. The simulation does not use it: see [foretick.Frame.Rand]. nil
	// means crypto/rand. Tests pass a seeded source.
	Random io.Reader
	// TrainCompression, when set, counts the content of snapshots, for training
	// compression tables: see [snapshot.Statistics] and [foretick.Protocol.CompressionTables]. It
	// costs time. nil counts nothing.
	TrainCompression *snapshot.Statistics
	// Verify, when set, is called by New for each asset that the server needs (see
	// [foretick.Protocol.ServerAsset]). If any is missing, New's error names the assets and
	// the prefabs that need them.
	Verify func(ref string) error
	// Profile makes the server count the bytes of each component and field: see
	// [Server.Traffic]. It costs time.
	Profile bool
	// Tags are tags that the game defines: the server runs the systems that have them,
	// besides those without tags. Those of shared systems hold on the clients too: the
	// server tells each client when it joins. A tag that no system has is an error.
	// TagRender asks for render systems, which Draw runs. Default: none.
	Tags []string
	// Executor, when set, makes the snapshots of different players in parallel. The
	// snapshots are the same as without it. Systems still run one after another. With
	// TrainCompression or Profile it is not used. nil makes one snapshot after another.
	Executor ecs.Executor
	// Logger logs players that come and go. nil is silent.
	Logger *slog.Logger
	// OnPanic, when set, is called for each panic in a handler that runs for one player.
	// The player is dropped and the match continues. A panic in a system concerns every
	// player: it is not caught. A panic in OnPanic itself is counted and logged.
	OnPanic func(Panic)
	// Clock, when set, measures the times of systems in [Server.Figures]: it returns the
	// time since any fixed moment, and never goes back. nil means the process's clock in [Server.Run], and no
	// times if the program calls Step itself.
	Clock func() time.Duration
	// OnDrain, when set, is called once, in the first tick after [Server.Drain], with its reason: tell
	// the players by when the match should end. It may change the world and send messages, as
	// OnJoin may. A singleton that it sets reaches everybody, also who reconnects later. It is not called
	// if nobody is left to be told. A panic in it is logged, and the match goes on.
	OnDrain func(f *foretick.ServerFrame, reason string)
	// AllowTrace, when set, decides which players may trace their own entities: see package
	// inspect/trace. It is called within Step, for each request of a player's client. A player
	// sees no more than snapshots show it, but traces take bandwidth and time. nil allows
	// players on this machine only: their address is a loopback address, or they play in this
	// process. Behind a reverse proxy on this machine every address may be one: set it there.
	AllowTrace func(player foretick.PlayerID) bool
	// Recorder, when set, records everything that the match depends on, so that it can be
	// replayed tick by tick: it is what flight.New returns, and New refuses anything else. A
	// recorder records one server. nil records nothing, and costs nothing.
	Recorder io.WriterTo
	// OnTick, when set, is called after each tick with the frame, for tests and recorders.
	// It must not change the world.
	OnTick func(f *foretick.ServerFrame)
}

const (
	defaultMaxClients  = 64
	defaultRepeatInput = 250 * time.Millisecond
	defaultDecayInput  = 250 * time.Millisecond
	defaultHold        = 30 * time.Second
	defaultMaxWaiting  = 32
	defaultObservers   = 16
)

// check fills in defaults and reports every fault at once.
func (c *Config) check() error {
	var errs []error
	if c.Protocol == nil {
		errs = append(errs, errors.New("foretick: server.Config.Protocol is nil"))
	} else if err := c.Protocol.Err(); err != nil {
		errs = append(errs, err)
	}
	if c.Protocol != nil {
		errs = append(errs, compiledOf(c.Protocol).CheckRequests(), compiledOf(c.Protocol).CheckConfigTags(game.ConfigOfServer, c.Tags))
	}
	if guard.Missing(c.Transport) {
		errs = append(errs, errors.New("foretick: server.Config.Transport is nil: pass a listening endpoint, for example udp.Listen, and look at its error first"))
		c.Transport = nil
	}
	if c.Executor != nil && guard.Missing(c.Executor) {
		errs = append(errs, errors.New("foretick: server.Config.Executor is a nil pointer: leave it out, or give one"))
	}
	if c.Recorder != nil && guard.Missing(c.Recorder) {
		errs = append(errs, errors.New("foretick: server.Config.Recorder is a nil pointer: leave it out, or give the one that flight.New returns"))
	} else if c.Recorder != nil && tape.SinkOf(c.Recorder) == nil {
		errs = append(errs, fmt.Errorf("foretick: server.Config.Recorder is a %T, which records nothing: give what flight.New returns", c.Recorder))
	}
	errs = append(errs, c.checkClients())
	if c.Protocol != nil && c.Protocol.Err() == nil {
		errs = append(errs, c.checkLate())
	}
	if c.Protocol != nil {
		rate := c.Protocol.TickRate()
		if c.SnapshotRate == 0 {
			c.SnapshotRate = rate
		}
		if c.SnapshotRate < 1 || rate%c.SnapshotRate != 0 {
			errs = append(errs, fmt.Errorf("foretick: server.Config.SnapshotRate is %d: it must divide the tick rate %d", c.SnapshotRate, rate))
		}
	}
	if c.SendRate == 0 {
		c.SendRate = game.DefaultSendRate
	}
	if c.Timeout == 0 {
		c.Timeout = guard.DefaultTimeout
	}
	errs = append(errs, game.CheckRate("server.Config.SendRate", c.SendRate), guard.Timeout("foretick: server.Config.Timeout", c.Timeout))
	errs = append(errs,
		game.CheckDuration("server.Config.RepeatInput", &c.RepeatInput, longestInput, defaultRepeatInput),
		game.CheckDuration("server.Config.DecayInput", &c.DecayInput, longestInput, defaultDecayInput),
		game.CheckDuration("server.Config.ReconnectWindow", &c.ReconnectWindow, longestHold, defaultHold))
	if c.MaxRewind > time.Second {
		errs = append(errs, fmt.Errorf("foretick: server.Config.MaxRewind is %v: use up to 1s, 0 for %v and two snapshots, or less for none", c.MaxRewind, lagcomp.DefaultMaxRewind))
	}
	switch {
	case c.MaxRewind < 0:
		c.MaxRewind, c.NoLagCompensation = lagcomp.DefaultMaxRewind, true
	case c.MaxRewind == 0:
		bridged := 2 * time.Second / time.Duration(max(c.SnapshotRate, 1)) // see netcode.Clock.SetLoss
		c.MaxRewind = min(lagcomp.DefaultMaxRewind+bridged, time.Second)
	}
	if c.RewindGrowth == 0 {
		c.RewindGrowth = lagcomp.DefaultGrowth
	}
	if c.RewindGrowth > time.Second {
		errs = append(errs, fmt.Errorf("foretick: server.Config.RewindGrowth is %v: use up to 1s, 0 for %v, or less for none", c.RewindGrowth, lagcomp.DefaultGrowth))
	}
	if c.Same > transport.AllowBoth {
		errs = append(errs, fmt.Errorf("foretick: server.Config.Same is %d: use transport.ReplaceOld, RefuseNew or AllowBoth", c.Same))
	}
	if c.MaxWaitingPerAddress == 0 {
		c.MaxWaitingPerAddress = defaultMaxWaiting
	}
	if c.MaxWaitingPerAddress > mostWaiting {
		errs = append(errs, fmt.Errorf("foretick: server.Config.MaxWaitingPerAddress is %d: use up to %d, 0 for %d, or less for no limit", c.MaxWaitingPerAddress, mostWaiting, defaultMaxWaiting))
	}
	if c.MaxHeldPerAddress == 0 {
		c.MaxHeldPerAddress = max(1, c.MaxClients/4)
	}
	if c.MaxHeldPerAddress > standard.MaxPlayers {
		errs = append(errs, fmt.Errorf("foretick: server.Config.MaxHeldPerAddress is %d: use up to %d, 0 for a quarter of MaxClients, or less for no limit", c.MaxHeldPerAddress, standard.MaxPlayers))
	}
	if c.Random == nil {
		c.Random = rand.Reader
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return errors.Join(errs...)
}

// Limits for values in a config, so that no sum of them overflows.
const (
	longestInput = time.Minute
	longestHold  = 365 * 24 * time.Hour
	mostWaiting  = 1 << 20
)

// checkClients checks MaxClients and MaxObservers against the transport's limit.
func (c *Config) checkClients() error {
	peers, kept, besides := 0, 0, "" // kept: the peers reserved for observers
	if l, ok := transport.As[transport.Limited](c.Transport); ok {
		peers = l.MaxPeers()
	}
	if c.MaxObservers == 0 {
		c.MaxObservers = defaultObservers
	}
	if c.MaxObservers < 1 || c.MaxObservers > standard.MaxPlayers {
		return fmt.Errorf("foretick: server.Config.MaxObservers is %d: use 1 to %d, or 0 for %d", c.MaxObservers, standard.MaxPlayers, defaultObservers)
	}
	if c.Observe != nil && peers > 0 {
		if peers <= c.MaxObservers {
			return fmt.Errorf("foretick: server.Config.MaxObservers is %d, but the transport takes %d peers in all: set its Config.MaxPeers higher", c.MaxObservers, peers)
		}
		peers, kept, besides = peers-c.MaxObservers, c.MaxObservers, " besides MaxObservers"
	}
	if c.MaxClients == 0 {
		c.MaxClients = defaultMaxClients
		if peers > 0 {
			c.MaxClients = min(peers, standard.MaxPlayers)
		}
	}
	switch {
	case c.MaxClients < 1 || c.MaxClients > standard.MaxPlayers:
		return fmt.Errorf("foretick: server.Config.MaxClients is %d: use 1 to %d, or 0 for the default", c.MaxClients, standard.MaxPlayers)
	case peers > 0 && c.MaxClients > peers:
		return fmt.Errorf("foretick: server.Config.MaxClients is %d, but the transport takes %d peers%s: set its Config.MaxPeers to %d", c.MaxClients, peers, besides, c.MaxClients+kept)
	}
	return nil
}
