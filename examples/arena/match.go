package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"os"
	"runtime"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/examples/arena/game"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/simtest/campaign"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/stats"
)

// quietTime is how long bots stand still before both ends are compared.
const quietTime = 2500 * time.Millisecond

// restLimit is the additional time in which both ends must agree over real sockets and bad links, where
// a busy machine delays everything.
const restLimit = 10 * quietTime

// match is a server and its bots in one process, with everything that the report needs from either end.
type match struct {
	opt    options
	game   *game.Game
	server *server.Server
	seats  []*seat
	shots  *shots
	stuns  []foretick.Tick      // ticks in which a body was stunned, in order
	log    *facts               // nil without -log
	draw   *drawings            // nil without -draw-shots
	learn  *snapshot.Statistics // nil without -learn
	ended  bool                 // the playing time is over, and the bots stand still

	took    []time.Duration // durations of server Steps that ran a tick
	mallocs uint64          // allocations in counted ticks
	counted int             // number of ticks whose allocations were counted
	state   hash.Hash
	memory  runtime.MemStats
	atEnd   Report
}

// seat is one bot and its client.
type seat struct {
	bot    *game.Bot
	game   *game.Game
	client *client.Client
	next   map[string]uint32 // expected id of the next message of each kind
	got    uint64            // messages that arrived once and in order

	sampled func(v client.View, cmd game.Command) // logs a sampled input; nil without a log
}

func newMatch(o options) *match {
	ticks := int((o.seconds + 10) * float64(o.tickRate))
	m := &match{opt: o, shots: newShots(o.clients, ticks), state: sha256.New(), took: make([]time.Duration, 0, ticks)}
	if o.learn != "" {
		m.learn = &snapshot.Statistics{}
	}
	if o.drawShots != "" {
		m.draw = newDrawings(o.drawShots)
	}
	return m
}

// serverConfig returns the server's configuration without its transport, and
// creates its game.
func (m *match) serverConfig() (server.Config, error) {
	m.game = game.NewGame(m.opt.rules())
	g := m.game
	g.Watch = game.Watch{
		Began:   m.undo,
		Before:  func(f *foretick.Frame, rows ecs.Rows) { m.shots.before(g, f, rows) },
		Judged:  m.shots.judged,
		Stunned: func(f *foretick.Frame, _ foretick.PlayerID) { m.stuns = append(m.stuns, f.Tick) },
		Died: func(f *foretick.Frame, who ecs.Entity) {
			p := f.World.Owner(who)
			m.shots.died[p] = append(m.shots.died[p], f.Tick)
		},
	}
	if m.draw != nil {
		g.Watch.Explain = m.draw.explain
	}
	var onTick func(*foretick.ServerFrame)
	if m.log != nil {
		m.log.server(m)
		onTick = m.log.ticks(m)
	}
	p, err := g.Protocol()
	return server.Config{
		OnTick:               onTick,
		DecayInput:           game.HoldAim,
		Late:                 server.Late{Window: m.opt.lateInputs, World: m.opt.lateWorld, Share: m.opt.lateShare},
		MaxWaitingPerAddress: -1, // all bots connect from this machine
		Protocol:             p, SnapshotRate: m.opt.snapshotRate, NoLagCompensation: m.opt.noLagComp, MaxClients: m.opt.seats(), TrainCompression: m.learn, Profile: m.opt.profile,
	}, err
}

// undo removes what a tick and later ones recorded, before the tick runs again. So each tick counts
// once, as its last run left it.
func (m *match) undo(f *foretick.Frame) {
	if f.Replay {
		m.stuns = before(m.stuns, f.Tick)
		m.shots.undo(f.Tick)
		m.draw.undo(f.Tick)
	}
}

// before returns the ticks of an ordered list that come before t.
func before(list []foretick.Tick, t foretick.Tick) []foretick.Tick {
	n := len(list)
	for n > 0 && int32(list[n-1]-t) >= 0 {
		n--
	}
	return list[:n]
}

// clientConfig returns the n-th bot's configuration without its transport, and
// creates its game.
func (m *match) clientConfig(n int) (*seat, client.Config, error) {
	rules := m.opt.rules()
	rules.Bias = m.opt.plant == "code" && n == 0
	g := game.NewGame(rules)
	p, err := g.Protocol()
	s := &seat{game: g, bot: game.NewBot(g, m.opt.seed, uint64(n)), next: map[string]uint32{}}
	g.Watch.Received = s.received
	g.Watch.Fired = func(f *foretick.Frame, by ecs.Entity, hit foretick.Hit, at lagcomp.Sphere) {
		m.fired(s, f, by, hit, at)
	}
	g.Watch.Hurt = func(_ *foretick.Frame, t foretick.Tick, h game.Hurt) {
		m.shots.told = append(m.shots.told, toldHurt{s.client.View().Player, t, h})
	}
	if m.draw != nil {
		g.Watch.Screenshot = func(f *foretick.Frame, by foretick.PlayerID, seen foretick.HitView) { m.draw.screen(g, f, by, seen) }
	}
	if m.opt.plant == "desync" && n == 0 {
		g.Watch.Render = s.corrupt
	}
	m.seats = append(m.seats, s)
	var explain func(prediction.Misprediction)
	if m.opt.explain {
		explain = func(p prediction.Misprediction) {
			if !m.ended {
				fmt.Fprintln(os.Stderr, p.JSON())
			}
		}
	}
	cfg := client.Config{
		OnMisprediction: explain,
		Protocol:        p, Sample: client.Sample(&g.Cmd, s.sample), NoPrediction: m.opt.mode == "interpolate",
		PartialTicks: m.opt.mode == "partial", InputDelay: m.opt.inputDelay, DelayAbove: m.opt.delayAbove,
	}
	if m.log != nil {
		m.log.client(s, &cfg)
	}
	return s, cfg, err
}

// sample returns the bot's input and passes it to the log.
func (s *seat) sample(v client.View) game.Command {
	cmd := s.bot.Sample(v)
	if s.sampled != nil {
		s.sampled(v, cmd)
	}
	return cmd
}

// received checks that messages arrive once and without gaps.
func (s *seat) received(_ *foretick.Frame, _ foretick.Tick, kind string, id uint32) {
	if want, ok := s.next[kind]; !ok || id == want {
		s.got++
	}
	s.next[kind] = id + 1
}

// corrupt is the planted desync: a render system that writes state that it
// should only draw.
func (s *seat) corrupt(f *foretick.Frame, rows ecs.Rows) {
	defer f.World.Guard(f.World.Guard(false)) // debug builds would reject it
	teams := s.game.Team.Slice(rows)
	for i := range teams {
		teams[i].ID ^= 1
	}
}

// fired records a predicted shot, and its target.
func (m *match) fired(s *seat, f *foretick.Frame, by ecs.Entity, hit foretick.Hit, at lagcomp.Sphere) {
	if m.ended {
		return
	}
	player := f.World.Owner(by)
	shown := f.Rewind(player).Used
	back := float64(shown.Behind(f.Tick))
	shot := seenShot{hit: hit.ID != 0, at: at, render: shown.Tick, back: back * 1000 / float64(m.opt.tickRate)}
	if shot.hit {
		shot.target = f.World.Owner(hit.Entity) // a player keeps its body
	}
	m.shots.fired(shotKey{player, f.Tick}, shot)
}

// around measures the time of a Step of the server, and counts its allocations in the second half of
// the match.
func (m *match) around(step func()) {
	before := m.server.Tick()
	steady := !m.ended && before > uint32(m.opt.seconds*float64(m.opt.tickRate)/2) && m.counted < 100
	if steady {
		runtime.ReadMemStats(&m.memory)
	}
	mallocs, start := m.memory.Mallocs, time.Now()
	step()
	took := time.Since(start)
	if steady {
		runtime.ReadMemStats(&m.memory)
		m.mallocs += m.memory.Mallocs - mallocs
		m.counted += int(m.server.Tick() - before)
	}
	if m.server.Tick() != before && !m.ended && len(m.took) < cap(m.took) {
		m.took = append(m.took, took)
	}
}

// hashTick adds a tick to the trace of a match over real sockets.
func (m *match) hashTick(f *foretick.Frame) {
	var b [12]byte
	binary.LittleEndian.PutUint32(b[:], f.Tick)
	binary.LittleEndian.PutUint64(b[4:], campaign.Hash(m.server))
	m.state.Write(b[:])
}

// end stops the play: it computes the figures per second and makes the bots stand still.
func (m *match) end() {
	r := &m.atEnd
	st := m.server.Stats()
	m.countClients()
	n := float64(len(m.seats))
	r.Ticks, r.Entities = m.server.Tick(), m.server.World().Len()
	r.BytesDown, r.BytesUp = float64(st.BytesOut)/n/m.opt.seconds, float64(st.BytesIn)/n/m.opt.seconds
	r.InputsMissing, r.InputsRerun = st.InputsMissing, st.InputsRerun
	r.Traffic = traffic(m.server.Traffic(), n*m.opt.seconds)
	r.ServerTickP50, r.ServerTickP99 = quantile(m.took, 0.5), quantile(m.took, 0.99)
	if m.counted > 0 {
		r.AllocsPerTick = float64(m.mallocs) / float64(m.counted)
	}
	for _, s := range m.seats {
		s.bot.Quiet = true
	}
	m.ended, m.game.QuietFrom = true, m.server.Tick()+1
	m.log.add(Fact{F: "end", Out: st.BytesOut, In: st.BytesIn})
}

// countClients fills in figures that only the clients know.
func (m *match) countClients() {
	r := &m.atEnd
	r.Clients = len(m.seats)
	var all stats.Client
	var living, moving, changed int
	for _, s := range m.seats {
		cs := s.client.Stats()
		all.Add(&cs)
		living, moving, changed = living+s.bot.Living, moving+s.bot.Moving, changed+s.bot.Changed
	}
	r.Mispredictions, r.TicksShownWrong = all.Mispredictions, all.MispredictedTicks
	r.ResimulatedTicks, r.HardResets = all.Resimulated, all.HardResets
	r.MispredictionsByCause = map[string]uint64{}
	for c, n := range all.ByCause.All() {
		r.MispredictionsByCause[c.String()] = n
	}
	r.PredictedTicks = uint64(living)
	r.MovingPercent = 100 * float64(moving) / float64(max(living, 1))
	r.InputChangesPercent = 100 * float64(changed) / float64(max(living, 1))
	r.InputToConfirmP50 = float64(all.Confirm(0.5)) / float64(time.Millisecond)
	r.InputToConfirmP99 = float64(all.Confirm(0.99)) / float64(time.Millisecond)
	if all.Frames > 0 {
		r.InputDelayMean = float64(all.InputDelaySum) / float64(all.Frames) / float64(time.Millisecond)
		r.LeadMean = float64(all.LeadSum) / float64(all.Frames) / float64(time.Millisecond)
		r.InterpolationMean = float64(all.InterpolationSum) / float64(all.Frames) / float64(time.Millisecond)
	}
}

// logSent logs the messages that the server queues.
func (m *match) logSent() {
	if m.log != nil {
		campaign.OnSent(m.server, func(s simtest.MessageSent) {
			m.log.add(Fact{F: "tell", P: s.To, Kind: [...]string{"kill", "beat", "hurt"}[s.Kind]})
		})
	}
}

// agreed reports whether every screen matches the server and every message has
// arrived.
func (m *match) agreed() bool {
	got := uint64(0)
	for _, s := range m.seats {
		got += s.got
		if a := simtest.Audit(m.server, s.client.View().Player, s.client); a.Differences > 0 {
			return false
		}
	}
	return got == m.server.Stats().MessagesSent
}

// report compares both ends and completes the counts, after the quiet time.
func (m *match) report(trace string) (*Report, error) {
	r := m.atEnd
	m.countByTransport(&r)
	m.shots.settle(&r)
	r.Stuns, r.HitsTold = len(m.stuns), m.told() // now that no tick can run again
	m.shots.tellings(&r)
	st := m.server.Stats()
	r.EventsSent, r.EventsResent = st.MessagesSent, st.MessagesResent
	for _, s := range m.seats {
		r.EventsDelivered += s.got
		me := s.client.View().Player
		a := simtest.Audit(m.server, me, s.client)
		r.FieldsCompared += a.Fields
		if a.Differences > 0 {
			r.Desyncs++
			r.FirstDesync = cmp.Or(r.FirstDesync, fmt.Sprintf("player %d: %s", me, a.First))
		}
	}
	r.Trace = trace
	if err := m.closeLog(&r); err != nil {
		return nil, err
	}
	if m.learn != nil {
		if err := os.WriteFile(m.opt.learn, m.learn.Tables(), 0o644); err != nil {
			return nil, err
		}
	}
	if m.draw != nil {
		return &r, m.draw.save()
	}
	return &r, nil
}

// told returns the number of hits that were reported to their victims.
func (m *match) told() (n int) {
	g := m.game
	for _, rows := range g.Avatars.All(m.server.World()) {
		for _, life := range g.Life.Slice(rows) {
			n += int(life.Told)
		}
	}
	return n
}

// openLog starts the log if the options ask for one.
func (m *match) openLog(now func() time.Duration) error {
	if m.opt.log == "" {
		return nil
	}
	w, err := os.Create(m.opt.log)
	if err != nil {
		return err
	}
	m.log = newFacts(w)
	m.log.now = now
	m.log.add(Fact{F: "match", Rate: m.opt.tickRate, Clients: m.opt.clients, Seconds: m.opt.seconds, NoLag: m.opt.noLagComp, Late: m.opt.lateTicks(), World: m.opt.lateWorld, Sockets: m.opt.transport != "sim"})
	return nil
}

// closeLog writes the final screens and the report, and ends the log.
func (m *match) closeLog(r *Report) error {
	if m.log == nil {
		return nil
	}
	for _, s := range m.seats {
		v := s.client.View()
		f := Fact{F: "shown", P: v.Player}
		f.Bodies, f.Bolts = bodiesIn(s.game, v.World, v.Player)
		m.log.add(f)
	}
	m.log.add(Fact{F: "report", Report: r})
	return m.log.close()
}
