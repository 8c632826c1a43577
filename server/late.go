package server

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/late"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
)

// Late sets what happens to a command that comes after its tick: see [Config].Late. The tick first runs
// with a replacement, see Config.RepeatInput. When the command comes, its tick runs again with it. 200 ms
// of Window suit connections with bursts of delay; on a steady one nothing changes. The guide has what it
// costs, and what it does not go with: docs/guide/networks.md, "Inputs that come late". [New] names what a
// protocol has that does not go with it.
type Late struct {
	// Window is the longest delay with which a command still runs in its own tick. 0 means none, and so
	// every late command is dropped. At most 500 ms and 16 ticks.
	//
	// Without World the shared systems run again for that player alone, from the command's tick to the
	// present. Its effects on others happen now, and theirs on it since then stay. Until the command comes,
	// snapshots for that player leave its own entities out, for twice the Window at most. On average at
	// most a fifth of a player's ticks run late commands, and at most twice the Window of them at once.
	Window time.Duration
	// World runs all of a tick again, instead of that player's part: the world is restored, and every
	// system and handler runs. Then the command also changes the player's effects on others in its tick.
	// In return all state of the game has to be in components and singletons: simtest.SyncTest names the
	// system that has some elsewhere. Effects that a screen showed may be undone. Put those that must not
	// be into a handler of [foretick.Event.OnFinal], which comes up to a Window later, as reliable messages
	// do. While ticks run again, [foretick.Frame].Replay is true. World needs a Window.
	World bool
	// Share is the share of inputs that clients may send too late for their tick. Clients
	// then predict less far ahead: on connections with jitter this shortens the time until
	// the server confirms an input. The late inputs run as Window says, so other players
	// see more corrections. 0.05 is a start; the server tells it to each client that joins. 0
	// means none. Negative, NaN, more than 0.2, and a Share without a Window are errors.
	Share float64
}

// newLate makes the room of late inputs for Config.Late.Window. re is its host.
func newLate(c *Config, run *progress, re *reruns) late.Room {
	m, p := re.sim, re.sim.p
	interval := time.Second / time.Duration(p.TickRate)
	cfg := late.Config{
		Layout: &p.Layout, Systems: p.Schedule.Systems(), World: m.world, Entities: m.entities,
		Tick: &m.frame.Tick, Ticking: &run.ticking, Players: &re.sessions.late, Life: m.sentLife,
		Window: c.lateTicks(), Whole: c.Late.World, Owners: c.MaxClients + 1,
		Fade: int((c.lateFadeTime() + interval - 1) / interval), Fixed: []ecs.ID{p.Identity.ID()},
	}
	for _, v := range p.Singletons {
		if v.Predicted {
			cfg.Singletons = append(cfg.Singletons, late.Singleton{At: ecs.Engine(m.world).SingletonPointer(v.ID), Size: v.Size})
		}
	}
	cfg.Handlers = len(cfg.Systems)
	re.handlers = re.handlers[:0]
	for _, drain := range p.Drains {
		at := slices.IndexFunc(cfg.Systems, func(sys ecs.SystemInfo) bool { return sys.Name == drain })
		if re.handlers = append(re.handlers, at); at >= 0 {
			cfg.Handlers = min(cfg.Handlers, at)
		}
	}
	return late.New(cfg, re)
}

// lateFadeTime returns the time in which a late correction fades on other players' screens, at a
// constant speed. It is twice as long as a body can have walked unseen. A body that ran at 6 m/s then
// moves 0.1 m more than it should in each tick of a thirtieth of a second.
func (c *Config) lateFadeTime() time.Duration {
	return max(400*time.Millisecond, 2*c.Late.Window)
}

// sentLife returns the number of an entity's life, and whether the entity is sent to any client.
func (m *simulation) sentLife(e ecs.Entity) (n uint32, sent bool) {
	return m.lifeOf(e), m.net(e) != 0
}

// lifeOf returns the number of an entity's life. It is 0 if the game does not count lives.
func (m *simulation) lifeOf(e ecs.Entity) (n uint32) {
	for _, l := range m.p.Lives {
		if at := ecs.Engine(m.world).Pointer(e, m.p.Components[l.Component].ID); at != nil {
			n = n*31 + m.p.LifeOf[l.Own](at)
		}
	}
	return n
}

// longestLate is the longest window for late commands.
const longestLate = 500 * time.Millisecond

// lateTicks returns the window for late commands in ticks. It is 0 if there is none.
func (c *Config) lateTicks() foretick.Tick {
	if c.Late.Window <= 0 {
		return 0
	}
	rate := time.Duration(c.Protocol.TickRate())
	return foretick.Tick((c.Late.Window*rate + time.Second - 1) / time.Second)
}

// toldLateShare returns Late.Share as a Welcome has it: in units of 1/256, rounded up.
func (c *Config) toldLateShare() uint8 {
	return uint8(math.Ceil(c.Late.Share * 256))
}

// checkLate returns an error for late commands in a game in which one player's part of a tick cannot
// run again alone.
func (c *Config) checkLate() error {
	var errs []error
	switch {
	case !(c.Late.Share >= 0 && c.Late.Share <= netcode.MaxLateShare):
		errs = append(errs, fmt.Errorf("foretick: server.Config.Late.Share is %v: use up to %v, or 0 for none", c.Late.Share, netcode.MaxLateShare))
	case c.Late.Share > 0 && c.Late.Window == 0:
		errs = append(errs, fmt.Errorf("foretick: server.Config.Late.Share is %v, and inputs that come late are lost: set Late.Window too, or leave Share out", c.Late.Share))
	}
	if c.Late.World && c.Late.Window == 0 {
		errs = append(errs, errors.New("foretick: server.Config.Late.World is set without a Window: set it too, or leave World out"))
	}
	if c.Late.Window == 0 {
		return errors.Join(errs...)
	}
	fault := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("foretick: server.Config.Late.Window: "+format, args...))
	}
	p := compiledOf(c.Protocol)
	if c.Late.Window < 0 || c.Late.Window > longestLate {
		fault("%v: use up to %v, or 0 for none", c.Late.Window, longestLate)
	} else if n := c.lateTicks(); n > prediction.DefaultHistory/2 {
		fault("%v is %d ticks at %d Hz, and clients remember %d: use %v at most", c.Late.Window, n, c.Protocol.TickRate(), prediction.DefaultHistory, prediction.DefaultHistory/2*time.Second/time.Duration(c.Protocol.TickRate()))
	}
	if c.AllowOtherBuilds {
		fault("clients of other builds are not supported: leave AllowOtherBuilds out, or Late")
	}
	if p.Command == nil {
		fault("the protocol has no command: declare one with Protocol.Command, or leave Late out")
	}
	if p.Remote.Predicts && !c.Late.World {
		fault("other players' clients predict a player with PredictRemote, and would be wrong in every late tick: leave one of the two out")
	}
	for _, k := range p.Prefabs {
		if k.Common && k.ECS != &p.SingletonRow && !c.Late.World {
			fault("prefab %q is a shared physics object, which every client computes with: let a Server system move it, or leave Late out", k.ECS.Name())
		}
	}
	for _, s := range p.Schedule.Systems() {
		if c.Late.World {
			break // whole ticks run again
		}
		if layout.KeepsMatch(s) {
			continue
		}
		if layout.Shared(s) && (len(s.OtherWrites) > 0 || len(s.SingleWrites) > 0) {
			fault("shared system %q writes what is not its own rows (WriteOther, or a singleton), and cannot run again for one player: raise an Event and write in its OnServer handler, or declare a clock of the match ecs.Once with singletons alone", s.Name)
		}
		if layout.Shared(s) && s.Once && len(s.Writes)+len(s.Creates) > 0 {
			fault("shared system %q is declared with ecs.Once, so it has no rows and cannot run again for one player (a system of a bridge is declared so): let it loop over rows, or leave Late out", s.Name)
		}
	}
	for i := range p.Components {
		if k := &p.Components[i]; k.Predicted && k.Varies && !c.Late.World {
			fault("predicted component %s holds strings or slices: use arrays and numbers, or leave Late out", k.Name)
		}
	}
	return errors.Join(errs...)
}

// beginSyncTest makes the server run the given number of ticks again before each tick.
func (re *reruns) beginSyncTest(ticks int, found func(probe.Desync)) error {
	tell := found
	if r := re.tape.sink; r != nil {
		tell = func(d probe.Desync) {
			r.Report(fmt.Sprintf("desync in tick %d after system %q: %s.%s", d.Tick, d.System, d.Component, d.Field))
			found(d)
		}
	}
	if err := re.late.BeginTest(ticks, tell); err != nil {
		return err
	}
	re.around.arrangeHooks()
	return nil
}

// logDesyncs begins the sync test of debug builds: it logs the first fault of each component.
func (re *reruns) logDesyncs(log *slog.Logger) {
	told := map[string]bool{}
	_ = re.beginSyncTest(1, func(d probe.Desync) {
		if key := d.System + " " + d.Component; !told[key] {
			told[key] = true
			log.Warn("a tick that runs again for a late input has another result: keep state in components, not in Go variables",
				append(re.who(), "tick", d.Tick, "system", d.System, "component", d.Component, "field", d.Field, "first", d.First, "again", d.Again)...)
		}
	})
}

// firstRuns records the results of systems for the sync test.
type firstRuns struct{ late *late.Room }

func (firstRuns) BeforeSystem(*game.SystemRun, int) {}

func (r firstRuns) AfterSystem(_ *game.SystemRun, system int) { r.late.NoteRun(system) }

// laterRuns passes to a player's part that runs again what others did to it in the tick, and compares
// the results of systems with those of their first runs.
type laterRuns struct{ late *late.Room }

func (r laterRuns) BeforeSystem(_ *game.SystemRun, system int) { r.late.BeforeSystem(system) }

func (r laterRuns) AfterSystem(_ *game.SystemRun, system int) { r.late.CompareRun(system) }
