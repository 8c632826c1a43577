package foretick

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"reflect"
	"time"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/transport"
)

// ClientConfig sets a Client up. Protocol and Transport are required; zero
// elsewhere means the default named.
type ClientConfig struct {
	// Protocol that server and clients share.
	Protocol *Protocol
	// Transport is a dialled endpoint. The client drains it, and closes it in
	// Close.
	Transport transport.Endpoint
	// Redial, when set, makes a new endpoint when the connection is lost: the client
	// then comes back to its place with the token that the server gave it, for as long
	// as that is held. While it tries, the state is Resuming. A server that was killed,
	// or that shut down in order to be replaced ([Server.CloseForRestart]), is a loss,
	// too. The client does not come back where the server meant it to go: a kick, a ban,
	// broken rules, or [Server.Close]. The first attempt comes at once; those that fail
	// are 250 ms apart, then up to 1 s, give or take a quarter, for 30 s.
	Redial func() (transport.Endpoint, error)
	// ResumeToken, when set, is what [Client.ResumeToken] returned in an earlier process
	// of this player's: the client takes that player's place, if it is still held,
	// instead of joining beside it. nil joins as a new player.
	ResumeToken []byte
	// OnSession, when set, is called in Step each time that the server lets the client
	// in, with what it is there: the place that it had before, or a new one and why.
	// Send what the server must know of a new player (a name, a team) here, unless the
	// prefab is SessionResumed. Requests may be sent in it.
	OnSession func(Session)
	// Random is what attempts to connect anew are spread with, so that not all
	// clients of a server come back at once. nil means crypto/rand; tests pass a
	// seeded one.
	Random io.Reader
	// ReceiveRate is the most bytes a second that this client wants to be sent.
	// 0 leaves it to the server; negative is an error. At most 2³⁰.
	ReceiveRate int
	// Verify, when set, is asked at the start for each asset that a client needs
	// (see [Protocol.Asset]); if any is missing, NewClient says which, and of which
	// prefabs.
	Verify func(ref string) error
	// SnapshotRate is the most snapshots a second that this client wants, up to 255.
	// 0 leaves it to the server; negative is an error.
	SnapshotRate int
	// Sample reads the player's input, once a picture. nil sends zero commands.
	Sample Sampler
	// NoPrediction shows the local player as the server last told it, a round
	// trip late. For comparison only.
	NoPrediction bool
	// MaxRTT is the longest round trip that is played without added input delay.
	// Longer ones, up to 4 s, are played too: every input counts, but the local
	// player follows it late, by as much as History is too short; View.InputDelay
	// says by how much. 0 means 400 ms; negative is an error. At most 5 s.
	MaxRTT time.Duration
	// History is how many ticks can be predicted ahead and corrected. It must
	// cover MaxRTT and the buffers on both ends. 0 means 32, or what MaxRTT asks
	// for where that is more; negative is an error. At most 1024.
	History int
	// SmoothHalfLife is the time in which half of a correction fades from the
	// picture. 0 means 50 ms; negative shows every correction at once. At most 10 s.
	SmoothHalfLife time.Duration
	// SmoothLimit is the largest correction, in a field's own units (radians for
	// rotations), that fades; a larger one is shown at once. 0 means 2; negative means
	// no limit. NaN and infinity are errors.
	SmoothLimit float32
	// Timeout is how long a silent server is waited for, 100 ms to 24 h. 0 means 5 s;
	// negative is an error.
	Timeout time.Duration
	// SendRate bounds what is sent, in bytes a second. 0 means 32 000; negative is an
	// error. At most 2³⁰.
	SendRate int
	// SyncTest has the client, after each tick, go back so many ticks and run
	// them again, in order to find code that does not come out the same: for
	// tests, since it costs as many times the ticks. OnDesync is told what
	// it finds. 0 and negative do nothing. Less than History. See simtest.SyncTest.
	SyncTest int
	OnDesync func(Desync)
	// OnRefused, when set, is told of each command that the game's validator on
	// the server refused (see [CheckCommand]): its tick, and the error's text. A
	// client that is refused often is not told of every one.
	OnRefused func(t Tick, why string)
	// OnSnapshot, when set, is called for each snapshot that is newer than all
	// before, ahead of the correction that it may bring, for tests and recorders.
	OnSnapshot func(t Tick)
	// OnMessage, when set, is called for each reliable message of the game's that
	// arrived, for tests and recorders.
	OnMessage func(m MessageReceived)
	// OnRequest, when set, is called for each request that was queued for the
	// server, for tests and recorders.
	OnRequest func(r RequestSent)
	// OnMisprediction, when set, is called with the explanation of each
	// correction.
	OnMisprediction func(prediction.Misprediction)
	// Logger logs what the program cannot see otherwise: see
	// ClientStats.CorePanics. nil is silent.
	Logger *slog.Logger
}

// Sampler reads a player's input into a command; make one with [Sample].
type Sampler interface {
	sample(v View, dst unsafe.Pointer)
	handle() ecs.Handle
	fault() string // what is missing; "": nothing
}

type sampler[T any] struct {
	c  *ecs.Component[T]
	fn func(View) T
}

func (s sampler[T]) sample(v View, dst unsafe.Pointer) { *(*T)(dst) = s.fn(v) }
func (s sampler[T]) handle() ecs.Handle                { return s.c }

func (s sampler[T]) fault() string {
	switch {
	case s.c == nil:
		return "Sample is given a nil component: pass the address of the command's"
	case s.fn == nil:
		return "Sample has no function: give it one that reads the input"
	}
	return ""
}

// SampleWhile reads input with s for as long as wanted says so, and zero
// commands otherwise: while a menu is open, or when a test lets a match come to
// rest.
func SampleWhile(wanted func() bool, s Sampler) Sampler { return interrupted{s, wanted} }

type interrupted struct {
	Sampler
	wanted func() bool
}

func (s interrupted) fault() string {
	switch {
	case s.wanted == nil:
		return "SampleWhile has no function: give it one that says whether input is wanted"
	case s.Sampler == nil:
		return "SampleWhile has no Sampler: give it one made by Sample"
	}
	return s.Sampler.fault()
}

func (s interrupted) sample(v View, dst unsafe.Pointer) {
	if s.wanted() {
		s.Sampler.sample(v, dst)
	}
}

// Sample makes a Sampler of a function that reads the player's input. fn is
// called once a frame, with what is on the screen at that moment. The next tick
// takes the last value read, and every one-shot field (tag oneshot) that was set in
// any frame since the last tick: a press and release between two ticks acts once.
//
// Tag the fields of an aim with press, as in `net:"angle,bits=16,press"`. They are
// taken from the last frame in which a one-shot was set, and a shot is judged by
// what that frame showed. All other fields are of the last frame. Where other
// one-shots aim at nothing (a jump), tag the one that does with press too: then only
// that counts. Without such a tag a shot is judged by the last frame before the tick,
// or by the frame of the press where the rest of the command has not changed since.
func Sample[T any](c *ecs.Component[T], fn func(v View) T) Sampler { return sampler[T]{c, fn} }

// ClientState is how far a client has come.
type ClientState uint8

// The states, in their order.
const (
	// Connecting: the transport is not up yet, or the server has not answered.
	Connecting ClientState = iota
	// Syncing: admitted; the first snapshots are being buffered.
	Syncing
	// Resuming: the connection was lost, and a new one is being made. The world
	// stands still.
	Resuming
	// Playing: commands are sampled, predicted and sent.
	Playing
	// Closed: the connection ended; View.Err says why.
	Closed
)

// String names the state.
func (s ClientState) String() string {
	return [...]string{"connecting", "syncing", "resuming", "playing", "closed", "?", "?", "?"}[s&7]
}

// View is what to draw: the answer of Client.Step. The world holds the shown
// values until the next Step: others interpolated at the render time, the local
// player predicted, between two ticks, its corrections fading.
type View struct {
	State ClientState
	// Err is why the connection ended, in state Closed.
	Err error
	// World that holds what is shown.
	World *ecs.World
	// Player is the local player; [ecs.Nobody] before state Syncing.
	Player PlayerID
	// Tick is the newest predicted tick, and Fraction how far the picture has
	// gone beyond the tick before it, 0 to 1.
	Tick     Tick
	Fraction float32
	// Stalled is true while nothing comes from the server and the prediction has
	// gone as far ahead as its history reaches: the local player stands still.
	// It goes on when the server is heard again; when the server has been silent
	// for ClientConfig.Timeout, the state says what follows.
	Stalled bool
	// InputDelay is how long a command waits on this client before it moves the
	// local player: 0, but where the round trip is too long for the prediction to
	// reach so far ahead. See [ClientConfig.MaxRTT].
	InputDelay time.Duration
	// Render and RenderFraction are the server's time at which the others are
	// shown.
	Render         Tick
	RenderFraction float32
}

// Client plays one player's part. Step does the work; it is not safe for
// concurrent use. Stats may be called by any goroutine.
type Client struct {
	cfg      ClientConfig
	p        *Protocol
	endpoint transport.Endpoint
	world    *ecs.World
	frame    Frame
	view     View

	begun                   bool
	start                   time.Time
	now                     time.Duration
	peer                    transport.PeerID
	up                      bool // the transport is connected
	conn                    *netcode.Conn
	kept                    *netcode.Conn // the lost connection, while Resuming: its requests wait
	allowance               allowance     // of requests
	lastSend                time.Duration
	rejected                *netcode.Reject
	speaks                  uint64                      // the hash of the protocol that is spoken: ours, or the server's
	offered                 uint64                      // that of a server of another build, whose schema may be had
	buildDifference         *BuildDifference            // what differs from it
	token                   [16]byte                    // to come back with …
	server                  uint64                      // … to the server of this number
	taken                   [netcode.MaxChannels]uint32 // reliable messages in its session, for each channel
	epoch                   uint8                       // of the level
	overfull                bool                        // the world took all that a server may fill
	mostUsed                float64                     // of its limits, that a server may
	entered                 bool                        // the level's information came
	levelled                bool                        // by the packet at hand
	decoding                bool                        // bytes of the server's are read, and nothing of the game's runs
	newest                  Tick                        // snapshot of this connection, in whatever level; 0: none
	asksSchema, schemaAsked bool                        // of the server, on this connection
	wishes                  bool                        // there is a wish to tell the server: see Configure
	asked                   bool                        // it was sent
	granted                 bool                        // the server has our wish
	askedFrom               netcode.Seq                 // the first packet that carried it
	lost                    time.Duration               // when the connection was lost
	lostBy                  error
	retry                   redialling
	receiver                *snapshot.Receiver
	clock                   *netcode.Clock
	ticks                   tickGuard
	commands                *netcode.CommandSender
	predictor               *prediction.Predictor
	inputs                  *prediction.History[input]
	records                 *prediction.History[record]
	predicted               record // of the tick whose small differences are being taken over
	own                     *ecs.History
	common                  *ecs.History
	ownRows                 *ecs.Query // the command's rows
	remotePredictedOf       []other    // whose entities are predicted here, too
	runs                    func(system int, o PlayerID) bool
	there                   func(entity uint64) bool // world.Alive
	others                  []int                    // registry indices of components that shared systems read of others

	practice   syncTester
	losses     losses
	trails     trails // debug builds alone: ours …
	theirs     trails // … and the server's
	trailDue   bool   // a system has run that is still to be hashed
	note       note   // of the snapshot at noteTick
	noteTick   Tick   // 0: it had none
	noted      note   // as it came
	causes     causes // by all of them
	hasNote    bool
	good       Tick          // newest tick on which both ends agree
	sure       Tick          // … on everybody else's that is foreseen, too
	overdue    bool          // unpredicted components of some entities here may be old
	was        []byte        // scratch
	unsure     bool          // a snapshot has come since that put something off
	heard      time.Duration // when the newest snapshot came
	confirmed  Tick          // newest tick whose input came back
	firstInput Tick          // the first tick of the session that a command was made for; 0: none yet
	sampled    Tick          // newest tick whose input was sampled: the predicted one, or later where the lead exceeds the history
	wrong      prediction.Misprediction
	// of the tick that is compared: something else was foreseen of others
	remotePredictionFailed bool
	ownVerdict             prediction.Verdict // of that tick, on what is not another player's
	fades                  fades
	time                   netcode.Time // of the Step that runs
	shown                  shownTime
	cut                    []ecs.Entity // teleported in the tick that is being predicted
	picture                Tick
	drawn                  bool
	visible                *lagcomp.History

	commandAck Tick       // the command up to which the server had them by the newest snapshot
	appeared   []appeared // not long ago

	stepping   bool // a tick's systems run
	lived      Tick // the tick after the newest that ran
	spawns     prediction.Spawns[spawned]
	spawning   spawning
	clientOnly clientOnly
	locals     locals
	noBytes    []byte // zeroes

	ours     []*snapshot.Ghost // those that are predicted here
	mineAll  []ecs.Entity      // scratch: what is predicted here, matched or not
	parts    []PlayerID        // scratch
	released []*snapshot.Ghost // to be given back when nobody walks the list

	events    [64]transport.Event
	scratch   []byte
	packed    []byte  // a guessed command
	covered   []int32 // scratch
	naming    []int32 // scratch
	words     []int32
	bodies    bodies
	rendering bool           // render systems run
	sample    unsafe.Pointer // the player's input as of the last picture
	pressed   unsafe.Pointer // scratch: a command being made
	press     press          // the newest that no tick has taken yet
	stats     ClientStats
	board     clientBoard // what other goroutines may read
}

// shownTime is the render time of the last picture.
type shownTime struct {
	tick     Tick
	fraction uint8 // 1/256 tick
	at       time.Duration
}

// input is one tick's command.
type input struct {
	at      unsafe.Pointer // the command, as a component
	value   []byte         // its bytes
	packed  []byte         // the same, as it travels
	sampled time.Duration
	// replaced says that the tick's command was another before, the packed first one,
	// which the server may have run.
	replaced bool
	first    []byte
	picture  Tick // that the player looked at …
	ahead    keys // … the ticks that what is predicted was shown between in it …
	whole    keys // … and the time of the rest
}

const (
	defaultSmoothLimit = 2
	defaultMaxRTT      = 400 * time.Millisecond
	longestTrip        = 4 // seconds a round trip may take
	helloInterval      = 100 * time.Millisecond
)

func (c *ClientConfig) check() error {
	var errs []error
	if c.Protocol == nil {
		errs = append(errs, errors.New("foretick: ClientConfig.Protocol is nil"))
	} else if err := c.Protocol.Err(); err != nil {
		errs = append(errs, err)
	} else if err := c.checkSample(); err != nil {
		errs = append(errs, err)
	}
	if c.Protocol != nil {
		errs = append(errs, c.Protocol.checkMessages())
	}
	if missing(c.Transport) {
		errs = append(errs, errors.New("foretick: ClientConfig.Transport is nil: pass a dialled endpoint, for example udp.Dial, and look at its error first"))
	}
	if c.MaxRTT == 0 {
		c.MaxRTT = defaultMaxRTT
	}
	if c.MaxRTT < 0 || c.MaxRTT > 5*time.Second {
		errs = append(errs, fmt.Errorf("foretick: ClientConfig.MaxRTT is %v: use up to 5s, or 0 for %v", c.MaxRTT, defaultMaxRTT))
	} else if c.Protocol != nil {
		need := historyFor(c.MaxRTT, c.Protocol.tickRate)
		if c.History == 0 {
			c.History = max(prediction.DefaultHistory, need)
		}
		if c.History < need || c.History > 1024 {
			errs = append(errs, fmt.Errorf("foretick: ClientConfig.History is %d ticks: a round trip of %v at %d Hz needs %d to 1024 (or set MaxRTT lower: more is then bridged by input delay)", c.History, c.MaxRTT, c.Protocol.tickRate, need))
		}
	}
	errs = append(errs, c.checkResumeToken())
	if c.SmoothLimit == 0 {
		c.SmoothLimit = defaultSmoothLimit
	}
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	if c.SendRate == 0 {
		c.SendRate = defaultSendRate
	}
	if c.Random == nil {
		c.Random = rand.Reader
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.SnapshotRate < 0 || c.SnapshotRate > 255 {
		errs = append(errs, fmt.Errorf("foretick: ClientConfig.SnapshotRate is %d: use 1 to 255, or 0", c.SnapshotRate))
	}
	c.SyncTest = max(c.SyncTest, 0)
	if c.ReceiveRate < 0 || c.ReceiveRate > 1<<30 {
		errs = append(errs, fmt.Errorf("foretick: ClientConfig.ReceiveRate is %d: use up to 2³⁰ bytes a second, or 0", c.ReceiveRate))
	}
	if l := float64(c.SmoothLimit); math.IsNaN(l) || math.IsInf(l, 0) {
		errs = append(errs, fmt.Errorf("foretick: ClientConfig.SmoothLimit is %g, not a number: use a length, 0 for %d, or less for no limit", l, defaultSmoothLimit))
	}
	errs = append(errs, checkDuration("ClientConfig.SmoothHalfLife", &c.SmoothHalfLife, longestFade, prediction.DefaultHalfLife))
	errs = append(errs, checkRate("ClientConfig.SendRate", c.SendRate), checkTimeout("ClientConfig.Timeout", c.Timeout))
	if c.SyncTest > 0 && c.SyncTest >= c.History && c.History > 0 {
		errs = append(errs, fmt.Errorf("foretick: ClientConfig.SyncTest is %d ticks: use less than History, which is %d", c.SyncTest, c.History))
	}
	return errors.Join(errs...)
}

// checkSample holds the sampler against the protocol, which is sound.
func (c *ClientConfig) checkSample() error {
	if c.Sample == nil {
		return nil
	}
	if fault := c.Sample.fault(); fault != "" {
		return errors.New("foretick: ClientConfig.Sample: " + fault)
	}
	h, cmd := c.Sample.handle(), c.Protocol.command
	if cmd == nil || !c.Protocol.types.Has(h) || h.ID() != cmd.id {
		return errors.New("foretick: ClientConfig.Sample is for a component that is not the protocol's Command: pass the component of the game value that made the Protocol")
	}
	return nil
}

// historyFor is how many ticks of prediction a round trip needs: the trip, the
// input's wait on the server, the snapshot's on the client, and the 350 ms that
// pass without a snapshot where 20 come in a second and every fifth is lost. The
// client cannot know the server's rate yet.
func historyFor(rtt time.Duration, rate int) int {
	trip := int((rtt*time.Duration(rate) + time.Second - 1) / time.Second)
	return trip + rate*7/20 + 4
}

// NewClient makes a client that greets the server with its first Steps. The
// error lists every fault of the configuration and the protocol.
func NewClient(cfg ClientConfig) (*Client, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	p := cfg.Protocol
	if cfg.Verify != nil {
		if err := p.registry.Verify(false, cfg.Verify); err != nil {
			return nil, err
		}
	}
	c := &Client{cfg: cfg, p: p, endpoint: cfg.Transport, wishes: cfg.ReceiveRate > 0, speaks: p.Hash(), mostUsed: mostUsed}
	c.restore(cfg.ResumeToken)
	c.world = ecs.NewWorld(p.types, ecs.WorldConfig{Tags: []string{TagClient}})
	c.frame = Frame{World: c.world, DT: 1 / float32(p.tickRate), rate: p.tickRate, client: c, queues: p.newQueues()}
	// Inputs lie ahead of the newest snapshot by a round trip, however far the
	// prediction reaches: what is more is input delay.
	c.inputs = prediction.NewHistory[input](max(cfg.History*2, longestTrip*p.tickRate+cfg.History))
	c.records = prediction.NewHistory[record](cfg.History)
	if debugBuild {
		c.trails, c.theirs = newTrails(cfg.History), newTrails(cfg.History)
	}
	c.losses = newLosses(p, cfg.Logger, &c.frame.Tick, &c.stats.ValuesOutside, &c.stats.ChangesSwallowed)
	c.spawning.ordinals = ordinals{}
	c.practice.trail = prediction.NewHistory[[]uint64](cfg.History)
	c.fades.fade = prediction.Fade{HalfLife: cfg.SmoothHalfLife, Limit: cfg.SmoothLimit}
	if err := c.fresh(); err != nil {
		return nil, err
	}
	var err error
	if c.visible, err = lagcomp.NewHistory(lagcomp.Config{TickRate: p.tickRate, Shapes: p.shapes}); err != nil {
		return nil, err
	}
	if p.command != nil {
		c.ownRows = ecs.NewQuery(p.types, ecs.With(p.command.handle))
		c.sample = reflect.New(p.command.handle.Type()).UnsafePointer()
		c.pressed = reflect.New(p.command.handle.Type()).UnsafePointer()
		c.press.at = reflect.New(p.command.handle.Type()).UnsafePointer()
	}
	if p.spawning {
		c.clientOnly.query = ecs.NewQuery(p.types, ecs.With(&p.identity))
		c.clientOnly.kept = c.world.NewOwnerHistory(ecs.ClientOnly, 1)
	}
	if cfg.SyncTest > 0 || debugBuild {
		p.schedule.SetHook(frameHook{}) // without one a player's systems run on the short way
	}
	c.bodies, c.others = newBodies(p), p.othersRead()
	c.runs = c.runsFor
	c.world.WatchOutside(true)
	c.there = func(e uint64) bool { return c.world.Alive(ecs.Entity(e)) }
	c.view.World = c.world
	return c, nil
}

// fresh forgets everything that belonged to a connection.
func (c *Client) fresh() error {
	c.inputs.Clear()
	c.clock, c.confirmed = nil, 0
	c.entered, c.asked, c.granted = false, false, false
	c.newest, c.commandAck = 0, 0
	c.commands = nil
	if c.p.command != nil {
		c.commands = netcode.NewCommandSender(c.p.command.schema.PackedSize(), netcode.CommandConfig{})
	}
	return c.clearLevel()
}

// clearLevel forgets everything that belonged to a level.
func (c *Client) clearLevel() error {
	if c.receiver != nil {
		c.world.Lock()
		for _, g := range c.receiver.Ghosts() {
			if g.Data != 0 {
				c.world.Manager().Destroy(ecs.Entity(g.Data))
			}
		}
		c.world.Unlock()
		for _, g := range c.receiver.Ghosts() {
			c.world.Unreserve(ecs.Entity(g.Data)) // no save of before is restored any more
		}
	}
	c.clearSpawns()
	c.newReceiver()
	c.records.Clear()
	c.fades.clear()
	c.ours, c.remotePredictedOf, c.appeared = c.ours[:0], nil, c.appeared[:0]
	c.drawn, c.overdue, c.good, c.sure, c.unsure, c.hasNote, c.noteTick, c.causes = false, false, 0, 0, false, false, 0, causes{}
	var err error
	c.predictor, err = prediction.NewPredictor(prediction.Config{History: c.cfg.History}, timeline{c})
	return err
}

// newReceiver makes the receiver of a level. Its snapshots are newer than all of the
// levels before.
func (c *Client) newReceiver() {
	c.receiver = snapshot.NewReceiver(c.p.registry, snapshot.ReceiverConfig{
		Viewer: uint16(c.view.Player), Owners: limitMaxClients, After: c.newest,
	})
}

// othersRead lists the replicated components that shared systems reach through
// the world: before predicting, others' rows take their newest received values.
func (p *Protocol) othersRead() []int {
	var mask uint64
	for _, s := range p.schedule.Systems() {
		if !shared(s) {
			continue
		}
		for _, id := range append(append([]ecs.ID{}, s.OtherReads...), s.OtherWrites...) {
			if i := p.index(id); i >= 0 {
				mask |= 1 << i
			}
		}
	}
	var out []int
	for i := range p.components {
		if mask>>i&1 != 0 {
			out = append(out, i)
		}
	}
	return out
}

// View is what the last Step returned.
func (c *Client) View() View { return c.view }

// World is the client's world: see View.World.
func (c *Client) World() *ecs.World { return c.world }

// RTT is the measured round trip; 0 before the first acknowledgement.
func (c *Client) RTT() time.Duration {
	if c.conn == nil {
		return 0
	}
	return c.conn.RTT()
}

// Close leaves the match and closes the transport.
func (c *Client) Close() error {
	defer c.post()
	if c.up {
		c.endpoint.Disconnect(c.peer, transport.Closed, "")
	}
	c.end(&DisconnectError{Code: transport.Closed})
	return c.endpoint.Close(transport.Closed, "")
}

func (c *Client) end(err error) {
	if c.view.State != Closed {
		c.view.State, c.view.Err, c.up = Closed, err, false
	}
}

// Step takes in what has arrived, predicts the ticks that are due at now, sends
// what was sampled, and returns what to draw. Call it once per picture; now
// must not go back.
func (c *Client) Step(now time.Time) View {
	defer c.post()
	if !c.begun {
		c.begun, c.start = true, now
	}
	c.now = now.Sub(c.start)
	if c.view.State == Closed {
		return c.view
	}
	c.undraw()
	c.receive()
	if c.view.State == Resuming {
		c.redial()
	}
	if c.view.State == Closed {
		return c.view
	}
	ticks := c.advance()
	c.send(ticks)
	c.draw()
	c.endpoint.Flush()
	return c.view
}
