package rollback

import (
	"compress/flate"
	"errors"
	"fmt"
	"io"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/settled"
)

// Replay plays a match again, from the inputs that [Peer.WriteReplay] wrote. Each tick has the world that it had
// in the match, as long as the code is the same. Every second that is checked. A Replay is not safe for concurrent
// use.
type Replay struct {
	cfg   ReplayConfig
	file  replayFile
	play  *playback
	last  foretick.Tick
	steps []uint32 // steps are the sums of the steps of the newest tick, for a trace.
	was   []uint32 // was are those that Against has.
	ended error
}

// ReplayConfig sets a [Replay] up. Protocol and From are required. Zero in any other field means the default named.
type ReplayConfig struct {
	// Protocol is the game's. Required. It must be the protocol of the match.
	Protocol *foretick.Protocol
	// From is what WriteReplay wrote. Required. NewReplay reads it whole.
	From io.Reader
	// Tags are those of Config.Tags in the match.
	Tags []string
	// Effects runs handlers of OnPredicted and OnConfirmed too, in each tick: OnPredicted as the event is raised, and
	// OnConfirmed at the tick's end. So sounds and sparks are those of a screen that never guessed wrongly, and
	// Frame.Replay is false. False runs those of OnServer alone, and Frame.Replay is true. Those of OnFinal never run,
	// because they write to databases.
	Effects bool
	// MaxWorld is the most bytes of a world with which the replay may begin. 0 means 16 MiB. Negative is an error. At
	// most 1 GiB.
	MaxWorld int
	// MaxEntities is the most entities that such a world may have room for. 0 means 65 536. Negative is an error. At
	// most 8 million.
	MaxEntities int
	// Trace, when set, is given a sum of the world after each system. Together with the replay it shows later which
	// system computes otherwise. It grows by 4 bytes for each system and tick.
	Trace io.Writer
	// Against is a trace that another build wrote of this replay. The replay names the first tick and system
	// with another result. nil compares the sums of each second only.
	Against io.Reader
}

// ErrCut is wrapped by the error of a replay whose file ends too early: a disk was full, or a copy was not ended.
// [Replay.Step] returns it after the last tick that the file has whole. [NewReplay] returns it if there is none.
var ErrCut = errors.New("the replay is cut off")

// Divergence is the error of a [Replay] whose world is another one than that of the match.
type Divergence struct {
	// Agreed is the newest tick at which the worlds were equal.
	Agreed foretick.Tick
	// Tick is the first tick that was compared and differs.
	Tick foretick.Tick
	// System is the name of the system that computes otherwise, as [Cause].System. Empty without
	// ReplayConfig.Against.
	System string
	// Recorded is the build that wrote the replay.
	Recorded string
}

// Error says where the worlds differ.
func (d *Divergence) Error() string {
	if d.System != "" {
		return fmt.Sprintf("foretick: this build differs from that of the trace in tick %d, in system %q", d.Tick, d.System)
	}
	return fmt.Sprintf("foretick: this build differs from that of the match (%s) between tick %d and tick %d: let that build write a trace, and give it as ReplayConfig.Against, to name the system", d.Recorded, d.Agreed, d.Tick)
}

// replayFile is a replay as it is written: replayMagic, then compressed
//
//	protocol    8 bytes
//	rules       length 2, then as in a hello
//	build       length 2, and the text
//	places      1
//	tick        4 bytes: the one that the match begins after
//	standing    length 4, and standing.appendWhole of that tick
//	world       length 4, and its bytes
//	sums        number 4; each: tick 4, sum 8
//	ticks       length 4, and the settled ticks as the relay sends them
//	check       8 bytes: settled.SumOf all that stands before
//
// Of one that is cut off, read takes the ticks that are there.
type replayFile struct {
	protocol uint64
	rules    settled.Rules
	build    string
	places   int
	begin    moment
	sums     []settled.Sum
	ticks    []byte
	cut      bool // cut is true if the end is missing.
}

const replayMagic = "FTRB\x02"

// WriteReplay writes the match as this peer has it up to View.Settled: with inputs alone, a few kB a minute. A peer
// that joined late has it from there on, and of a very long match the newest 4 to 8 MiB of inputs are kept. It returns
// an error if there is no match yet, and the error of to. Call it where Step may be called, or in Config.OnDesync.
func (p *Peer) WriteReplay(to io.Writer) error {
	if p.record.standing == nil {
		return errors.New("foretick: Peer.WriteReplay: there is no match yet: wait until View.State is Playing")
	}
	r := &p.record
	f := replayFile{protocol: p.p.Hash, rules: *r.rules, build: buildName(), places: r.places, begin: r.base, sums: r.sums, ticks: r.ticks}
	return f.write(to)
}

func (f *replayFile) write(to io.Writer) error {
	var b []byte
	part := func(data []byte) { b = append(settled.LE.AppendUint32(b, uint32(len(data))), data...) }
	b = settled.LE.AppendUint64(b, f.protocol)
	d := settled.Declaration{Rules: f.rules}
	rules := d.Append(nil)
	b = append(settled.LE.AppendUint16(b, uint16(len(rules))), rules...)
	build := f.build[:min(len(f.build), 1<<10)]
	b = append(settled.LE.AppendUint16(b, uint16(len(build))), build...)
	b = settled.LE.AppendUint32(append(b, byte(f.places)), f.begin.tick)
	part(f.begin.standing)
	part(f.begin.world)
	b = settled.LE.AppendUint32(b, uint32(len(f.sums)))
	for _, s := range f.sums {
		b = s.Append(b)
	}
	part(f.ticks)
	b = settled.LE.AppendUint64(b, settled.SumOf(b))
	if _, err := io.WriteString(to, replayMagic); err != nil {
		return err
	}
	z, err := flate.NewWriter(to, flate.DefaultCompression)
	if err != nil {
		return err
	}
	_, err = z.Write(b)
	return errors.Join(err, z.Close())
}

var (
	errReplay = errors.New("foretick: rollback.ReplayConfig.From is damaged, or no replay: read it from where Peer.WriteReplay wrote it")
	errNoTick = fmt.Errorf("foretick: %w before its first tick: copy or download it again", ErrCut)
)

// read reads a replay with a world of up to most bytes.
func (f *replayFile) read(from io.Reader, most int) error {
	magic := make([]byte, len(replayMagic))
	n, err := io.ReadFull(from, magic)
	switch cut := err == io.EOF || err == io.ErrUnexpectedEOF; {
	case string(magic[:n]) != replayMagic[:n] || err != nil && !cut:
		return errors.Join(errReplay, err)
	case cut:
		return errNoTick
	}
	limit := int64(most) + 2*mostRecord
	b, err := io.ReadAll(io.LimitReader(flate.NewReader(from), limit+1))
	if f.cut = err == io.ErrUnexpectedEOF; err != nil && !f.cut {
		return errors.Join(errReplay, err)
	}
	if int64(len(b)) > limit {
		return fmt.Errorf("foretick: the replay is larger than a world of %d bytes and its inputs can be: raise rollback.ReplayConfig.MaxWorld", most)
	}
	c := settled.Cursor{B: b}
	part := func(n uint32) []byte { return c.Take(int(min(n, uint32(len(c.B)+1)))) }
	f.protocol = c.U64()
	d, err := settled.ReadDeclaration(part(uint32(c.U16())))
	f.rules = d.Rules
	f.build = string(part(uint32(c.U16())))
	f.places, f.begin.tick = int(c.U8()), c.U32()
	f.begin.standing, f.begin.world = part(c.U32()), part(c.U32())
	for n := c.U32(); n > 0 && !c.Bad; n-- {
		f.sums = append(f.sums, settled.Sum{Tick: c.U32(), Sum: c.U64()})
	}
	length := c.U32()
	switch {
	case c.Bad && f.cut:
		return errNoTick
	case c.Bad || err != nil || f.places < 1 || f.places > settled.MaxPlaces:
		return errReplay
	case len(f.begin.world) > most:
		return fmt.Errorf("foretick: the replay begins with a world of %d bytes: raise rollback.ReplayConfig.MaxWorld, which is %d", len(f.begin.world), most)
	}
	f.ticks = c.Take(int(min(length, uint32(len(c.B)))))
	sum := settled.SumOf(b[:len(b)-len(c.B)])
	switch is := c.U64(); {
	case c.Bad && f.cut: // Replay.Step says so
	case is != sum || c.Err(true) != nil:
		return errReplay
	default:
		f.cut = false
	}
	return nil
}

// NewReplay reads a replay. The error lists every fault of the configuration. It also says if the replay is of another
// protocol, if it is damaged, or if it is cut off before its first tick: see [ErrCut].
func NewReplay(cfg ReplayConfig) (*Replay, error) {
	var errs []error
	var p *compiled
	if cfg.Protocol == nil {
		errs = append(errs, errors.New("foretick: rollback.ReplayConfig.Protocol is nil"))
	} else if err := cfg.Protocol.Err(); err != nil {
		errs = append(errs, err)
	} else {
		p = compiledOf(cfg.Protocol)
		errs = append(errs, refuseProtocol(p), p.CheckConfigTags("rollback.ReplayConfig", cfg.Tags))
	}
	if cfg.From == nil {
		errs = append(errs, errors.New("foretick: rollback.ReplayConfig.From is nil: open what Peer.WriteReplay wrote"))
	}
	errs = append(errs, checkNumber("rollback.ReplayConfig.MaxWorld", &cfg.MaxWorld, defaultMaxWorld, mostMaxWorld),
		checkNumber("rollback.ReplayConfig.MaxEntities", &cfg.MaxEntities, defaultEntities, mostEntities))
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	r := &Replay{cfg: cfg}
	if err := r.file.read(cfg.From, cfg.MaxWorld); err != nil {
		return nil, err
	}
	switch {
	case r.file.protocol != p.Hash:
		return nil, fmt.Errorf("foretick: the replay is of another protocol, recorded by %s", r.file.build)
	case !r.file.rules.Carries(p.CommandSize(), commandFields(p)):
		return nil, errReplay
	case r.file.rules.Tags != tagsHash(cfg.Tags):
		return nil, errors.New("foretick: the match had other tags than rollback.ReplayConfig.Tags")
	}
	var err error
	r.play, err = newPlayback(p, cfg.Tags, &r.file.rules, r.file.places, &r.file.begin, r.file.ticks, cfg.MaxEntities)
	switch {
	case errors.Is(err, ecs.ErrTooMany):
		return nil, fmt.Errorf("foretick: the replay begins with a world of too many entities: raise rollback.ReplayConfig.MaxEntities, which is %d", cfg.MaxEntities)
	case err != nil:
		return nil, errors.Join(errReplay, err)
	}
	r.play.sim.shows = cfg.Effects
	if err := r.findLast(); err != nil {
		return nil, err
	}
	if cfg.Trace != nil || cfg.Against != nil {
		r.play.after = func(int) { r.steps = append(r.steps, uint32(r.play.sum())) }
	}
	return r, nil
}

// findLast finds the last tick that the file has whole.
func (r *Replay) findLast() error {
	r.last = r.file.begin.tick
	for left := r.file.ticks; len(left) > 0; r.last++ {
		next, whole := r.play.standing.Skip(left)
		if !whole && !r.file.cut {
			return errReplay
		}
		if !whole { // the tick that is cut through
			r.play.ticks = r.file.ticks[:len(r.file.ticks)-len(left)]
			break
		}
		left = next
	}
	if r.file.cut && r.last == r.file.begin.tick {
		return errNoTick
	}
	return nil
}

// World returns the world at the end of Tick. Reading it is free. Nothing may write it.
func (r *Replay) World() *ecs.World { return r.play.sim.world }

// Tick returns the newest tick that ran.
func (r *Replay) Tick() foretick.Tick { return r.play.tick() }

// Last returns the tick with which the replay ends. Of one that is cut off it is the last tick that the file has.
func (r *Replay) Last() foretick.Tick { return r.last }

// Build returns the program that recorded the match, with its version and revision as far as it knew them.
func (r *Replay) Build() string { return r.file.build }

// Step runs the next tick. It returns false after the last one, and with an error, which ends the replay. The error
// is a [*Divergence] if the world is another one than in the match. It wraps [ErrCut] after [Replay.Last] if the file
// is cut off.
func (r *Replay) Step() (bool, error) {
	if r.ended != nil {
		return false, r.ended
	}
	r.steps = r.steps[:0]
	more, err := r.play.run()
	switch {
	case err != nil:
		err = errors.Join(errReplay, err)
	case !more && r.file.cut:
		err = fmt.Errorf("foretick: %w after tick %d: copy or download it again", ErrCut, r.last)
	case more:
		if err = r.trace(); err == nil {
			err = r.compare()
		}
	}
	r.ended = err
	return more && err == nil, err
}

// compare compares the world with the sum of its tick, if there is one.
func (r *Replay) compare() error {
	s := r.file.sums
	if len(s) == 0 || !settled.IsSumTick(r.Tick(), r.file.rules.Rate) {
		return nil
	}
	if s[0].Tick != r.Tick() || s[0].Sum != r.play.sum() {
		return &Divergence{Agreed: r.file.begin.tick, Tick: r.Tick(), Recorded: r.file.build}
	}
	r.file.begin.tick, r.file.sums = r.Tick(), s[1:]
	return nil
}

// trace writes the sums of the tick's steps, and compares them.
func (r *Replay) trace() error {
	if r.cfg.Trace != nil {
		b := settled.LE.AppendUint16(nil, uint16(len(r.steps)))
		for _, s := range r.steps {
			b = settled.LE.AppendUint32(b, s)
		}
		if _, err := r.cfg.Trace.Write(b); err != nil {
			return err
		}
	}
	if r.cfg.Against == nil {
		return nil
	}
	if err := r.readTrace(); err != nil {
		return fmt.Errorf("foretick: rollback.ReplayConfig.Against is no trace of this replay: %w", err)
	}
	for i, s := range r.steps {
		if i >= len(r.was) || r.was[i] != s {
			return &Divergence{Agreed: r.Tick() - 1, Tick: r.Tick(), System: r.play.stepName(i), Recorded: r.file.build}
		}
	}
	return nil
}

// readTrace reads the sums of a tick.
func (r *Replay) readTrace() error {
	var n [2]byte
	if _, err := io.ReadFull(r.cfg.Against, n[:]); err != nil {
		return err
	}
	b := make([]byte, 4*int(settled.LE.Uint16(n[:])))
	_, err := io.ReadFull(r.cfg.Against, b)
	r.was = r.was[:0]
	for ; len(b) > 0; b = b[4:] {
		r.was = append(r.was, settled.LE.Uint32(b))
	}
	return err
}
