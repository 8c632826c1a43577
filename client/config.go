package client

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/guard"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/transport"
)

// Config configures a Client. Protocol and Transport are required. Zero in any other
// field means the default that its comment names.
type Config struct {
	// Protocol is the declaration that server and clients share. Required.
	Protocol *foretick.Protocol
	// Transport is a dialled endpoint. Required. The client reads it, and closes it in Close.
	Transport transport.Endpoint
	// Redial, when set, makes a new endpoint after the connection was lost. The client then
	// reconnects to its place with the token that the server gave it, while the server
	// holds that place. Until it succeeds, the state is Resuming. A server that was killed,
	// or that was closed with server.Server.CloseForRestart, counts as a lost connection. The
	// client does not reconnect after a kick, a ban, a broken rule or server.Server.Close. The
	// first attempt is made at once. Failed attempts are 250 ms apart, then up to 1 s, each
	// varied by up to a quarter. It gives up after 30 s, or the server's ReconnectWindow if
	// that is longer. Only time in which Step runs counts. Step calls it, so a Redial that blocks stops the
	// client: return an endpoint that still connects, as udp.Dial and ws.Dial do.
	Redial func() (transport.Endpoint, error)
	// ResumeToken, when set, is what [Client.ResumeToken] returned in an earlier process of
	// the same player. The client takes that player's place if the server still holds it,
	// and joins as a new player otherwise. nil joins as a new player.
	ResumeToken []byte
	// OnSession, when set, is called in Step each time the server lets the client in. Its
	// argument says whether the client got its old place or a new one, and why. Unless the
	// kind is SessionResumed, send here everything that the server must know of a new
	// player, such as a name or a team. Requests may be sent in it.
	OnSession func(Session)
	// Random spreads reconnection attempts over time, so that not all clients of a server
	// reconnect at once. nil means crypto/rand; tests pass a seeded one.
	Random io.Reader
	// ReceiveRate is the most bytes a second that the server may send to this client.
	// 0 leaves it to the server; negative is an error. At most 2³⁰.
	ReceiveRate int
	// Verify, when set, is called at the start for each asset that a client needs (see
	// [foretick.Protocol.Asset]). If it returns errors, New returns them with the assets and
	// their prefabs.
	Verify func(ref string) error
	// SnapshotRate is the most snapshots a second that this client wants, up to 255.
	// 0 leaves it to the server; negative is an error.
	SnapshotRate int
	// Observe makes the client an observer: it receives what server.Config.Observe grants,
	// draws everything at the render time, and plays nothing. It samples no input, sends no
	// commands and no requests, and predicts nothing. With Redial it observes again after a lost
	// connection. nil makes the client a player.
	Observe *Observe
	// Sample reads the player's input, once a rendered frame. nil sends zero commands.
	Sample Sampler
	// NoPrediction draws the local player in the past, interpolated like all others. It
	// responds later, by the lead of its inputs and the interpolation (View.InputDelay),
	// and is never corrected on the screen. View.Tick and Fraction are then those of the
	// render time. Events of shared systems happen when the screen shows their tick:
	// OnPredicted, and OnConfirmed right after it. For these events the client runs each
	// confirmed tick once, on the state before it, and drops all other results. Spawns come
	// from the server, and ClientOnly spawns do not happen.
	NoPrediction bool
	// PartialTicks draws the own player in the newest state: the newest predicted tick and,
	// on top, the part of the next one that has passed, with the input of this very frame.
	// So a press shows in the frame that reads it, about one tick sooner than otherwise. In
	// each frame the shared systems declared with [ecs.Partial] run over the player's own
	// rows, with Frame.DT as long as that part and Frame.Replay true. Their results are
	// drawn, and undone before the next tick, so nothing predicted or sent changes. There,
	// spawned entities last for the run alone, and Destroy, Teleport, events and messages do
	// nothing. All else is drawn as without it. A system must scale its changes by DT:
	// one that counts ticks shows its count a tick early. New refuses it where nothing
	// is declared with ecs.Partial, with NoPrediction, and in games with shared physics
	// objects, [foretick.PredictRemote], or a shared system that writes a singleton: these would be
	// drawn at two different times.
	PartialTicks bool
	// MaxRTT is the longest round trip that is played without added input delay. A longer
	// round trip, up to 4 s, works too, and every input still counts. But inputs then have to
	// run further ahead than History can predict. The rest is input delay: the local player
	// responds late by that much, and View.InputDelay has the time. 0 means 400 ms; negative
	// is an error. The setting itself is at most 5 s.
	MaxRTT time.Duration
	// History is how many ticks can be predicted ahead and corrected. It must cover MaxRTT
	// and the buffers on both ends. When the server is silent for longer than History, the
	// prediction waits (View.Stalled, stats.Client.Stalls). 0 means 32, or the ticks that
	// MaxRTT needs if that is more; negative is an error. At most 1024.
	History int
	// InputDelay is the shortest time from a command to its effect on the local player. It
	// is rounded to ticks. Nothing is predicted for this part of the delay. If it is
	// shorter than the round trip and the buffers, the rest is predicted. If it is longer,
	// commands are sent earlier and nearly nothing is predicted. 0 means none; negative is
	// an error. At most 500 ms. Shots are judged by the frame in which the player fired, so
	// a delay longer than the round trip needs a server.Config.MaxRewind that covers it.
	// Shots at shared physics objects and remotely predicted players are judged there for
	// up to 16 ticks of delay.
	InputDelay time.Duration
	// DelayAbove is the longest time that is predicted, measured from the average arrival
	// of the server's snapshots. Inputs that must run farther ahead are delayed by the
	// rest. So at long round trips fewer ticks are shown wrong, and the player responds
	// later instead. The delay follows the latency, by whole ticks. Two ticks and the
	// jitter are always predicted. With InputDelay too, the longer delay counts.
	// View.InputDelay has the delay and View.Lead the time by which inputs run ahead. 0
	// means no limit but History; negative is an error. At most 5 s.
	DelayAbove time.Duration
	// LateShare trades smoothness for delay on paths that stall, such as WebSocket over a
	// network that loses packets. It is the share of commands, and of snapshots, that may come too
	// late. The more may, the less far ahead inputs run, and the less far in the past remote entities
	// are drawn. But the server computes more ticks without the player's command, which it runs after
	// all with server.Config.Late, and remote entities stand still more often. On an even path it
	// changes little. 0 means smooth: nearly no command is late, and 3 % of the snapshots. 0.05 suits a
	// shooter on WebSocket. At most 0.2; negative and NaN are errors. If server.Config.Late.Share is
	// more, that counts for commands.
	LateShare float64
	// SnapshotBuffer is the least time by which remote entities are drawn after the average newest
	// snapshot, for a game that prefers calm to short delays. The clock measures jitter and lost packets, and
	// buffers what these need: with 1 % loss the time of one more snapshot, and with 4 % that of two.
	// More is of use where losses come in bursts. Shots are judged by what the screen showed, so
	// server.Config.MaxRewind must cover the buffer and the round trip. 0 means what the connection
	// needs; negative is an error. At most 500 ms.
	SnapshotBuffer time.Duration
	// SmoothHalfLife is the half-life of a correction on the screen: half of it fades in
	// this time. 0 means 50 ms; negative shows every correction at once. At most 10 s.
	SmoothHalfLife time.Duration
	// SmoothLimit is the largest correction that fades, in a field's own units (radians for
	// rotations). A larger one is shown at once. 0 means 2; negative means no limit. NaN and
	// infinity are errors.
	SmoothLimit float32
	// Timeout is the silence of the server after which the client disconnects, 100 ms to 24
	// h. 0 means 5 s; negative is an error.
	Timeout time.Duration
	// SendRate is the most bytes a second that the client sends: a bandwidth, not a number
	// of packets. 0 means 32 000; negative is an error. At most 2³⁰.
	SendRate int
	// Tags are tags that the game defines: the client runs the systems that have them,
	// besides those without tags. A tag that no system has is an error, and so is one of a
	// shared system: the server has these in its server.Config.Tags. Default: none.
	Tags []string
	// OnRefused, when set, is called for commands that the game's validator on the server
	// refused (see [foretick.CheckCommand]), with their tick and the error's text. It is not called
	// for every one when many are refused.
	OnRefused func(t foretick.Tick, why string)
	// OnSnapshot, when set, is called for each snapshot that is newer than all before, and
	// before the correction that it may cause. For tests and recorders.
	OnSnapshot func(t foretick.Tick)
	// OnMisprediction, when set, is called with the explanation of each correction.
	OnMisprediction func(prediction.Misprediction)
	// Logger logs when the client joins, loses its connection, comes back and ends, one line
	// each. It also logs faults that the program cannot see otherwise, such as those counted
	// in stats.Client.CorePanics. A *[slog.Logger] is a Logger. nil logs nothing.
	Logger transport.Logger
}

const (
	defaultSmoothLimit = 2
	defaultMaxRTT      = 400 * time.Millisecond
	longestTrip        = 4 // seconds a round trip may take
	longestDelay       = 500 * time.Millisecond
	helloInterval      = 100 * time.Millisecond
)

func (c *Config) checkConfig() error {
	var errs []error
	if c.Protocol == nil {
		errs = append(errs, errors.New("foretick: client.Config.Protocol is nil"))
	} else if err := c.Protocol.Err(); err != nil {
		errs = append(errs, err)
	} else if err := c.checkSample(); err != nil {
		errs = append(errs, err)
	}
	if c.Protocol != nil {
		errs = append(errs, compiledOf(c.Protocol).CheckMessages(), compiledOf(c.Protocol).CheckConfigTags(game.ConfigOfClient, c.Tags))
	}
	if guard.Missing(c.Transport) {
		errs = append(errs, errors.New("foretick: client.Config.Transport is nil: pass a dialled endpoint, for example udp.Dial, and look at its error first"))
	}
	if c.MaxRTT == 0 {
		c.MaxRTT = defaultMaxRTT
	}
	if c.MaxRTT < 0 || c.MaxRTT > 5*time.Second {
		errs = append(errs, fmt.Errorf("foretick: client.Config.MaxRTT is %v: use up to 5s, or 0 for %v", c.MaxRTT, defaultMaxRTT))
	} else if c.Protocol != nil {
		need := historyFor(c.MaxRTT, c.Protocol.TickRate())
		if c.History == 0 {
			c.History = max(prediction.DefaultHistory, need)
		}
		if c.History < need || c.History > 1024 {
			errs = append(errs, fmt.Errorf("foretick: client.Config.History is %d ticks: a round trip of %v at %d Hz needs %d to 1024 (or set MaxRTT lower: more is then bridged by input delay)", c.History, c.MaxRTT, c.Protocol.TickRate(), need))
		}
	}
	if c.InputDelay < 0 || c.InputDelay > longestDelay {
		errs = append(errs, fmt.Errorf("foretick: client.Config.InputDelay is %v: use up to %v, or 0 for none", c.InputDelay, longestDelay))
	}
	if c.DelayAbove < 0 || c.DelayAbove > 5*time.Second {
		errs = append(errs, fmt.Errorf("foretick: client.Config.DelayAbove is %v: use up to 5s, or 0 for no limit but History", c.DelayAbove))
	}
	if !(c.LateShare >= 0 && c.LateShare <= netcode.MaxLateShare) {
		errs = append(errs, fmt.Errorf("foretick: client.Config.LateShare is %v: use up to %v, or 0 for smoothness", c.LateShare, netcode.MaxLateShare))
	}
	if c.SnapshotBuffer < 0 || c.SnapshotBuffer > netcode.MaxSnapshotBuffer {
		errs = append(errs, fmt.Errorf("foretick: client.Config.SnapshotBuffer is %v: use up to %v, or 0 for what the connection needs", c.SnapshotBuffer, netcode.MaxSnapshotBuffer))
	}
	errs = append(errs, c.checkResumeToken(), c.checkObserve(), c.checkPartialTicks())
	if c.SmoothLimit == 0 {
		c.SmoothLimit = defaultSmoothLimit
	}
	if c.Timeout == 0 {
		c.Timeout = guard.DefaultTimeout
	}
	if c.SendRate == 0 {
		c.SendRate = game.DefaultSendRate
	}
	if c.Random == nil {
		c.Random = rand.Reader
	}
	if guard.Missing(c.Logger) {
		c.Logger = guard.Silent{}
	}
	if c.SnapshotRate < 0 || c.SnapshotRate > 255 {
		errs = append(errs, fmt.Errorf("foretick: client.Config.SnapshotRate is %d: use 1 to 255, or 0", c.SnapshotRate))
	}
	if c.ReceiveRate < 0 || c.ReceiveRate > 1<<30 {
		errs = append(errs, fmt.Errorf("foretick: client.Config.ReceiveRate is %d: use up to 2³⁰ bytes a second, or 0", c.ReceiveRate))
	}
	if l := float64(c.SmoothLimit); math.IsNaN(l) || math.IsInf(l, 0) {
		errs = append(errs, fmt.Errorf("foretick: client.Config.SmoothLimit is %g, not a number: use a length, 0 for %d, or less for no limit", l, defaultSmoothLimit))
	}
	errs = append(errs, game.CheckDuration("client.Config.SmoothHalfLife", &c.SmoothHalfLife, longestFade, prediction.DefaultHalfLife))
	errs = append(errs, game.CheckRate("client.Config.SendRate", c.SendRate), guard.Timeout("foretick: client.Config.Timeout", c.Timeout))
	return errors.Join(errs...)
}

// delayTicks returns InputDelay in ticks.
func (c *Config) delayTicks() int {
	return int((c.InputDelay*time.Duration(c.Protocol.TickRate()) + time.Second/2) / time.Second)
}

// checkSample checks the sampler against the protocol, which must have no faults.
func (c *Config) checkSample() error {
	if c.Sample == nil {
		return nil
	}
	if fault := c.Sample.fault(); fault != "" {
		return errors.New("foretick: client.Config.Sample: " + fault)
	}
	h, cmd := c.Sample.handle(), compiledOf(c.Protocol).Command
	if cmd == nil || !c.Protocol.Types().Has(h) || h.ID() != cmd.ID {
		return errors.New("foretick: client.Config.Sample is for a component that is not the protocol's Command: pass the component of the game value that made the Protocol")
	}
	return nil
}

// Observe is what a client asks for that observes a match: see [Config].Observe. The zero value says
// nothing about itself and looks from nowhere, see [Client.SetEye].
type Observe struct {
	// Data is passed to server.Config.Observe as server.Observer.Data. More than 256 bytes are an
	// error.
	Data []byte
	// Follow is the player that the observer looks from at first. [Client.Follow] and
	// [Client.SetEye] change it. 0 means nobody.
	Follow foretick.PlayerID
}

// checkObserve returns an error for what an observer must not set.
func (c *Config) checkObserve() error {
	if c.Observe == nil {
		return nil
	}
	asked := *c.Observe
	c.NoPrediction, c.Observe = true, &asked
	switch {
	case len(asked.Data) > netcode.MaxHelloData:
		return fmt.Errorf("foretick: client.Config.Observe has %d bytes of Data: use up to %d", len(asked.Data), netcode.MaxHelloData)
	case c.Sample != nil:
		return errors.New("foretick: client.Config.Sample is set, but an observer gives no input: leave it out, or do not set Observe")
	case c.ResumeToken != nil:
		return errors.New("foretick: client.Config.ResumeToken is set, but an observer takes no player's place: leave it out, or do not set Observe")
	}
	return nil
}

// checkResumeToken returns an error for a token of the wrong size.
func (c *Config) checkResumeToken() error {
	if n := len(c.ResumeToken); n != 0 && n != resumeTokenSize {
		return fmt.Errorf("foretick: client.Config.ResumeToken has %d bytes: pass what Client.ResumeToken returned, %d bytes, or nil", n, resumeTokenSize)
	}
	return nil
}

// historyFor returns how many ticks of prediction a round trip needs: the trip, the input's wait on the
// server, the snapshot's wait on the client, and 350 ms without a snapshot, as with 20 a second of
// which every fifth is lost. The client does not know the server's rate yet.
func historyFor(rtt time.Duration, rate int) int {
	trip := int((rtt*time.Duration(rate) + time.Second - 1) / time.Second)
	return trip + rate*7/20 + 4
}

const longestFade = 10 * time.Second
