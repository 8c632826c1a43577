package foretick_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/simtest/campaign"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/transport/dtls"
	"github.com/foretick/foretick/transport/impair"
	"github.com/foretick/foretick/transport/sim"
	"github.com/foretick/foretick/transport/udp"
	"github.com/foretick/foretick/transport/ws"
)

// misuse is a wrong call, and what its error must contain.
type misuse struct {
	name string
	call func() error
	want string // the error must contain each of these lines
}

// refused runs a misuse and checks its error. A panic counts as an error if it is one of the
// library's own, which name the fix.
func (m misuse) refused(t *testing.T) {
	t.Helper()
	err := func() (err error) {
		defer func() {
			if p := recover(); p != nil {
				e, ok := p.(error)
				var nilled runtime.Error
				assert.True(t, ok && !errors.As(e, &nilled), "%s: panic %v", m.name, p)
				err = e
			}
		}()
		return m.call()
	}()
	for _, w := range strings.Split(m.want, "\n") {
		assert.ErrorContains(t, err, w, m.name)
	}
}

type (
	wide      struct{ N int }
	unsigned  struct{ N uint }
	machine   struct{ P uintptr }
	nothingIn struct {
		Here int `net:"-"`
	}
	score struct{ N int32 }
	kept  struct {
		Secret uint8 `net:"owner"`
	}
	steep struct {
		X float32 `net:"min=-1,max=1,step=0.5"`
		Y float32
	}
)

// TestMisuseOfProtocol: wrong declarations are errors of Err, which name the fix, rather than panics
// in a tick.
func TestMisuseOfProtocol(t *testing.T) {
	var nilPlace *ecs.Component[place]
	var nilPad *ecs.Component[pad]
	other := &handles{}
	stranger := foretick.NewProtocol("stranger", 1)
	stranger.Component(&other.place, foretick.Predicted())
	stranger.Command(&other.pad)
	stranger.Prefab(&other.player, "player", &other.place)
	require.NoError(t, stranger.Err())
	sphere := func(*place) lagcomp.Sphere { return lagcomp.Sphere{} }
	never := func(*place) (x, y, z float32) { return }
	guess := func(*foretick.Frame, ecs.Entity, int, *pad) {}
	late := func(f func(h *handles, p *foretick.Protocol)) func(h *handles, p *foretick.Protocol) {
		return func(h *handles, p *foretick.Protocol) {
			_ = p.Err()
			f(h, p)
		}
	}
	for _, m := range []struct {
		name  string
		spoil func(h *handles, p *foretick.Protocol)
		want  string
	}{
		// Names.
		{"game without a name", func(_ *handles, p *foretick.Protocol) { *p = *foretick.NewProtocol("", 1) }, "NewProtocol\nneeds a name"},
		{"game's name with a line end", func(_ *handles, p *foretick.Protocol) { *p = *foretick.NewProtocol("a\nb", 1) }, "cannot be printed"},
		{"prefab without a name", func(h *handles, p *foretick.Protocol) { p.Prefab(&h.prefabs[0], "", &h.place) }, "Prefab needs a name"},
		{"prefab with a long name", func(h *handles, p *foretick.Protocol) { p.Prefab(&h.prefabs[0], strings.Repeat("k", 300), &h.place) }, "300 bytes: use up to 255"},
		{"prefab of a name that is taken", func(h *handles, p *foretick.Protocol) { p.Prefab(&h.prefabs[0], "player", &h.place) }, "taken"},
		{"prefab twice", func(h *handles, p *foretick.Protocol) { p.Prefab(&h.player, "again", &h.place) }, "already registered as \"player\""},
		{"system without a name", func(_ *handles, p *foretick.Protocol) { p.Shared("", nothing) }, "a system needs a name"},
		{"system with no text for a name", func(_ *handles, p *foretick.Protocol) { p.Server("\x80", nothing) }, "cannot be printed"},
		{"two systems of one name", func(_ *handles, p *foretick.Protocol) { p.Shared("move", nothing) }, "the name is taken"},
		{"channel without a name", func(_ *handles, p *foretick.Protocol) { p.Channel("", netcode.Channel{}) }, "Channel needs a name"},
		{"audience without a name", func(_ *handles, p *foretick.Protocol) { p.Audience("") }, "Audience needs a name"},
		{"audience twice", func(_ *handles, p *foretick.Protocol) { p.Audience("a"); p.Audience("a") }, "declared twice"},
		{"sixth audience", func(_ *handles, p *foretick.Protocol) {
			for _, n := range []string{"a", "b", "c", "d", "e", "f"} {
				p.Audience(n)
			}
		}, "there can be"},

		// Nil handles.
		{"nil component", func(_ *handles, p *foretick.Protocol) { p.Component(nil) }, "Component is given a nil component: pass its address"},
		{"component by a nil pointer", func(_ *handles, p *foretick.Protocol) { p.Component(nilPlace) }, "Component is given a nil component"},
		{"nil local component", func(_ *handles, p *foretick.Protocol) { p.LocalComponent(nil) }, "LocalComponent is given a nil component"},
		{"nil command", func(_ *handles, p *foretick.Protocol) { p.Command(nilPad) }, "Command is given a nil component"},
		{"nil prefab", func(h *handles, p *foretick.Protocol) { p.Prefab(nil, "ghost", &h.place) }, "Prefab is given a nil prefab"},
		{"prefab of a nil component", func(h *handles, p *foretick.Protocol) { p.Prefab(&h.prefabs[0], "ghost", nil) }, "prefab \"ghost\" is given a nil component"},
		{"prefab of a nil pointer", func(h *handles, p *foretick.Protocol) { p.Prefab(&h.prefabs[0], "ghost", nilPlace) }, "prefab \"ghost\" is given a nil component"},
		{"default of a nil prefab", func(h *handles, p *foretick.Protocol) { foretick.Default(p, nil, &h.place, place{}) }, "Default is given a nil prefab"},
		{"default of a nil component", func(h *handles, p *foretick.Protocol) { foretick.Default(p, &h.player, nilPlace, place{}) }, "Default is given a nil component"},
		{"asset of a nil prefab", func(_ *handles, p *foretick.Protocol) { p.Asset(nil, "tree") }, "Asset is given a nil prefab"},
		{"server's asset of a nil prefab", func(_ *handles, p *foretick.Protocol) { p.ServerAsset(nil, "map") }, "Asset is given a nil prefab"},
		{"spawns of a nil prefab", func(_ *handles, p *foretick.Protocol) { p.Spawns(nil, foretick.SpawnConfig{}) }, "Spawns is given a nil prefab"},
		{"relevance of a nil prefab", func(h *handles, p *foretick.Protocol) {
			foretick.Interest(p, &h.place, snapshot.AreaConfig{Enter: 1}, never)
			p.Relevant(func(*foretick.Frame, foretick.PlayerID, ecs.Entity) snapshot.Relevance { return snapshot.Always }, nil)
		}, "not declared with Protocol.Prefab"},
		{"nil prefab beside others", func(h *handles, p *foretick.Protocol) {
			foretick.PredictRemote(p, &h.pad, guess, foretick.RemoteConfig{Also: []*ecs.Prefab{nil}})
		}, "RemoteConfig.Also names a prefab that is not declared"},
		{"interest by a nil component", func(_ *handles, p *foretick.Protocol) {
			foretick.Interest(p, nilPlace, snapshot.AreaConfig{Enter: 1}, never)
		}, "Interest is given a nil component"},
		{"volume of a nil component", func(_ *handles, p *foretick.Protocol) { foretick.Hitbox(p, nilPlace, sphere) }, "Hitbox is given a nil component"},
		{"volume of two, one nil", func(h *handles, p *foretick.Protocol) {
			foretick.Hitboxes(p, func(*foretick.HitboxBuilder) {}, &h.place, nilPlace)
		}, "Hitbox is given a nil component"},
		{"volumes of a nil handle", func(_ *handles, p *foretick.Protocol) { foretick.Hitboxes(p, func(*foretick.HitboxBuilder) {}, nil) }, "Hitbox is given a nil component"},
		{"nil shape", func(_ *handles, p *foretick.Protocol) { p.Shapes(nil) }, "Shapes is given a nil shape"},
		{"lives of a nil component", func(_ *handles, p *foretick.Protocol) {
			foretick.LifeID(p, nilPlace, func(*place) uint32 { return 0 })
		}, "LifeID is given a nil component"},
		{"memory of a nil component", func(_ *handles, p *foretick.Protocol) { foretick.TrackHistory(p, nilPlace) }, "TrackHistory is given a nil component"},
		{"remote prediction of a nil command", func(_ *handles, p *foretick.Protocol) {
			foretick.PredictRemote(p, nilPad, guess, foretick.RemoteConfig{})
		}, "PredictRemote is given a nil component"},
		{"validator of a nil command", func(_ *handles, p *foretick.Protocol) {
			foretick.CheckCommand(p, nilPad, func(*foretick.Frame, foretick.PlayerID, pad) error { return nil })
		}, "CheckCommand is given a nil component"},
		{"decay of a nil command", func(_ *handles, p *foretick.Protocol) { foretick.Decay(p, nilPad, func(*pad, int) {}) }, "Decay is given a nil component"},
		{"nil event on the server", func(_ *handles, p *foretick.Protocol) {
			(*foretick.Event[hit])(nil).OnServer(p, func(*foretick.ServerFrame, foretick.By, hit) {})
		}, "OnServer is called on a nil Event"},
		{"nil event, predicted", func(_ *handles, p *foretick.Protocol) {
			(*foretick.Event[hit])(nil).OnPredicted(p, func(*foretick.Frame, foretick.By, hit) {})
		}, "OnPredicted is called on a nil Event"},
		{"nil message", func(_ *handles, p *foretick.Protocol) {
			(*foretick.Message[hit])(nil).OnClient(p, func(*foretick.Frame, foretick.Tick, hit) {})
		}, "OnClient is called on a nil Message"},
		{"nil request", func(_ *handles, p *foretick.Protocol) {
			(*foretick.Request[hit])(nil).Handle(p, func(*foretick.ServerFrame, foretick.PlayerID, hit) {})
		}, "Handle is called on a nil Request"},
		{"nil module", func(_ *handles, p *foretick.Protocol) { p.Use(nil) }, "nil module"},
		{"module by a nil pointer", func(_ *handles, p *foretick.Protocol) { p.Use((*absentModule)(nil)) }, "nil module"},
		{"system that reads nothing named", func(_ *handles, p *foretick.Protocol) { p.Shared("look", nothing, ecs.Read(nil)) }, "system \"look\"\na nil handle"},
		{"system that writes a nil pointer", func(_ *handles, p *foretick.Protocol) { p.Server("look", nothing, ecs.Write(nilPlace)) }, "system \"look\"\na nil handle"},

		// Nil functions and options.
		{"shared system without a function", func(_ *handles, p *foretick.Protocol) { p.Shared("a", nil) }, "\"a\" has no function"},
		{"creating system without a function", func(h *handles, p *foretick.Protocol) { p.Shared("a", nil, ecs.Create(&h.place)) }, "\"a\" has no function"},
		{"server system without a function", func(_ *handles, p *foretick.Protocol) { p.Server("a", nil) }, "\"a\" has no function"},
		{"render system without a function", func(_ *handles, p *foretick.Protocol) { p.Render("a", nil) }, "\"a\" has no function"},
		{"join without a function", func(_ *handles, p *foretick.Protocol) { p.OnJoin(nil) }, "OnJoin has no function"},
		{"leave without a function", func(_ *handles, p *foretick.Protocol) { p.OnLeave(nil) }, "OnLeave has no function"},
		{"absent without a function", func(_ *handles, p *foretick.Protocol) { p.OnDisconnect(nil) }, "OnDisconnect has no function"},
		{"return without a function", func(_ *handles, p *foretick.Protocol) { p.OnReconnect(nil) }, "OnReconnect has no function"},
		{"level without a function", func(_ *handles, p *foretick.Protocol) { p.OnLevel(nil) }, "OnLevel has no function"},
		{"event without a function", func(h *handles, p *foretick.Protocol) { h.shot.OnServer(p, nil) }, "OnServer of event hit has no function"},
		{"predicted event without a function", func(h *handles, p *foretick.Protocol) { h.shot.OnPredicted(p, nil) }, "OnPredicted of event hit has no function"},
		{"confirmed event without a function", func(h *handles, p *foretick.Protocol) { h.shot.OnConfirmed(p, nil) }, "OnConfirmed of event hit has no function"},
		{"cancelled event without a function", func(h *handles, p *foretick.Protocol) { h.shot.OnCancelled(p, nil) }, "OnCancelled of event hit has no function"},
		{"volume without a function", func(h *handles, p *foretick.Protocol) { foretick.Hitbox(p, &h.place, nil) }, "Hitbox has no function"},
		{"volumes without a function", func(h *handles, p *foretick.Protocol) { foretick.Hitboxes(p, nil, &h.place) }, "Hitboxes needs a function"},
		{"volumes of nothing", func(_ *handles, p *foretick.Protocol) { foretick.Hitboxes(p, func(*foretick.HitboxBuilder) {}) }, "and the components"},
		{"lives without a function", func(h *handles, p *foretick.Protocol) { foretick.LifeID(p, &h.place, nil) }, "LifeID has no function"},
		{"interest without a function", func(h *handles, p *foretick.Protocol) {
			foretick.Interest(p, &h.place, snapshot.AreaConfig{Enter: 1}, nil)
		}, "Interest has no function"},
		{"relevance without a function", func(h *handles, p *foretick.Protocol) { p.Relevant(nil, &h.player) }, "Relevant needs a function"},
		{"remote prediction without a function", func(h *handles, p *foretick.Protocol) {
			foretick.PredictRemote(p, &h.pad, nil, foretick.RemoteConfig{})
		}, "PredictRemote has no function"},
		{"validator without a function", func(h *handles, p *foretick.Protocol) { foretick.CheckCommand(p, &h.pad, nil) }, "CheckCommand has no function"},
		{"decay without a function", func(h *handles, p *foretick.Protocol) { foretick.Decay(p, &h.pad, nil) }, "Decay has no function"},

		// Handles that are undeclared, of another protocol, or of the wrong sort.
		{"default of an undeclared prefab", func(h *handles, p *foretick.Protocol) { foretick.Default(p, &h.prefabs[0], &h.place, place{}) }, "call Prefab first"},
		{"default of what the prefab has not", func(h *handles, p *foretick.Protocol) { foretick.Default(p, &h.player, &h.secret, secret{}) }, "has no"},
		{"default of an undeclared component", func(h *handles, p *foretick.Protocol) { foretick.Default(p, &h.player, &h.purse, purse{}) }, "declare it first"},
		{"default of a foreign component", func(h *handles, p *foretick.Protocol) { foretick.Default(p, &h.player, &other.place, place{}) }, "registered with other Types"},
		{"asset of an undeclared prefab", func(h *handles, p *foretick.Protocol) { p.Asset(&h.prefabs[0], "tree") }, "not declared with Protocol.Prefab"},
		{"asset without a name", func(h *handles, p *foretick.Protocol) { p.Asset(&h.player, "") }, "empty asset"},
		{"spawns of an undeclared prefab", func(h *handles, p *foretick.Protocol) { p.Spawns(&h.prefabs[0], foretick.SpawnConfig{}) }, "call Prefab first"},
		{"spawns of a foreign prefab", func(_ *handles, p *foretick.Protocol) { p.Spawns(&other.player, foretick.SpawnConfig{}) }, "call Prefab first"},
		{"spawns twice", func(h *handles, p *foretick.Protocol) {
			p.Spawns(&h.player, foretick.SpawnConfig{})
			p.Spawns(&h.player, foretick.SpawnConfig{})
		}, "twice"},
		{"relevance of an undeclared prefab", func(h *handles, p *foretick.Protocol) {
			foretick.Interest(p, &h.place, snapshot.AreaConfig{Enter: 1}, never)
			p.Relevant(func(*foretick.Frame, foretick.PlayerID, ecs.Entity) snapshot.Relevance { return snapshot.Always }, &h.prefabs[0])
		}, "not declared with Protocol.Prefab"},
		{"relevance without interest", func(h *handles, p *foretick.Protocol) {
			p.Relevant(func(*foretick.Frame, foretick.PlayerID, ecs.Entity) snapshot.Relevance { return snapshot.Always }, &h.player)
		}, "needs Interest"},
		{"prefab of a foreign component", func(h *handles, p *foretick.Protocol) { p.Prefab(&h.prefabs[0], "ghost", &other.place) }, "registered with other Types"},
		{"prefab of a singleton", func(h *handles, p *foretick.Protocol) {
			var s ecs.Singleton[score]
			require.NoError(t, p.Types().RegisterSingleton(&s))
			p.Prefab(&h.prefabs[0], "ghost", &s)
		}, "is a singleton"},
		{"an appearance without a function", func(_ *handles, p *foretick.Protocol) { p.OnAppear(nil) }, "OnAppear has no function"},
		{"an appearance of a foreign component", func(_ *handles, p *foretick.Protocol) {
			p.OnVanish(func(*foretick.Frame, ecs.Entity) {}, ecs.With(&other.place))
		}, "OnVanish: "},
		{"an appearance of no prefab", func(h *handles, p *foretick.Protocol) {
			p.OnAppear(func(*foretick.Frame, ecs.Entity) {}, foretick.OfPrefab(&h.prefabs[0]))
		}, "a prefab that is not declared"},
		{"an appearance of two prefabs", func(h *handles, p *foretick.Protocol) {
			p.OnAppear(func(*foretick.Frame, ecs.Entity) {}, foretick.OfPrefab(&h.player), foretick.OfPrefab(&h.player))
		}, "two prefabs"},
		{"a hierarchy behind prefabs", func(_ *handles, p *foretick.Protocol) { p.Hierarchy() }, "Hierarchy after Prefab"},
		{"two hierarchies", func(_ *handles, p *foretick.Protocol) {
			*p = *foretick.NewProtocol("other", 1)
			p.Hierarchy()
			p.Hierarchy()
		}, "Hierarchy was declared twice"},
		{"a component as a singleton", func(_ *handles, p *foretick.Protocol) { p.Singleton(&ecs.Component[score]{}) }, "declare it with Component, or make it an ecs.Singleton"},
		{"no singleton", func(_ *handles, p *foretick.Protocol) { p.Singleton(nil) }, "Singleton is given a nil component"},
		{"a singleton of both", func(_ *handles, p *foretick.Protocol) {
			var s ecs.Singleton[score]
			require.NoError(t, p.Types().RegisterSingleton(&s))
			p.Singleton(&s)
		}, "not with RegisterSingleton"},
		{"a singleton's owner", func(_ *handles, p *foretick.Protocol) { p.Singleton(&ecs.Singleton[kept]{}) }, "singleton kept: field Secret is for an owner or a team"},
		{"a shared system's own singleton", func(_ *handles, p *foretick.Protocol) {
			var s ecs.Singleton[score]
			require.NoError(t, p.Types().RegisterSingleton(&s))
			p.Shared("add", func(*foretick.Frame, ecs.Rows) {}, ecs.Once(), ecs.Write(&s))
		}, `shared system "add" writes singleton score, which is not predicted`},
		{"a shared system's unpredicted singleton", func(_ *handles, p *foretick.Protocol) {
			var s ecs.Singleton[score]
			p.Singleton(&s)
			p.Shared("add", func(*foretick.Frame, ecs.Rows) {}, ecs.Once(), ecs.Write(&s))
		}, `shared system "add" writes singleton score, which is not predicted`},
		{"a shared system that reads an unpredicted singleton", func(_ *handles, p *foretick.Protocol) {
			var s ecs.Singleton[score]
			p.Singleton(&s)
			p.Shared("look", func(*foretick.Frame, ecs.Rows) {}, ecs.Once(), ecs.Read(&s))
		}, `shared system "look" reads singleton score, which is not predicted`},
		{"a shared system that matches no prefab", func(h *handles, p *foretick.Protocol) {
			p.Prefab(&h.prefabs[0], "crate", &h.place)
			p.Component(&h.purse)
			p.Shared("pay", nothing, ecs.Read(&h.place, &h.purse))
		}, "shared system \"pay\" runs for no entity\nlacks purse"},
		{"a shared system without prefabs", func(_ *handles, p *foretick.Protocol) {
			var h handles
			*p = *foretick.NewProtocol("empty", 1)
			p.Component(&h.place)
			p.Shared("look", nothing, ecs.Read(&h.place))
		}, "the protocol has no prefab"},
		{"singleton as a component", func(_ *handles, p *foretick.Protocol) { p.Component(&ecs.Singleton[score]{}) }, "RegisterSingleton"},
		{"singleton as a command", func(_ *handles, p *foretick.Protocol) {
			*p = *foretick.NewProtocol("other", 1)
			p.Command(&ecs.Singleton[score]{})
		}, "RegisterSingleton"},
		{"volume of a singleton", func(_ *handles, p *foretick.Protocol) {
			var s ecs.Singleton[score]
			require.NoError(t, p.Types().RegisterSingleton(&s))
			foretick.Hitboxes(p, func(*foretick.HitboxBuilder) {}, &s)
		}, "declare score with Component first"},
		{"volume of a foreign component", func(_ *handles, p *foretick.Protocol) { foretick.Hitbox(p, &other.place, sphere) }, "declare place with Component first"},
		{"memory of a foreign component", func(_ *handles, p *foretick.Protocol) { foretick.TrackHistory(p, &other.place) }, "declare place with Component first"},
		{"validator of another component", func(h *handles, p *foretick.Protocol) {
			foretick.CheckCommand(p, &h.place, func(*foretick.Frame, foretick.PlayerID, place) error { return nil })
		}, "call Command first"},
		{"validator of a foreign command", func(_ *handles, p *foretick.Protocol) {
			foretick.CheckCommand(p, &other.pad, func(*foretick.Frame, foretick.PlayerID, pad) error { return nil })
		}, "call Command first"},
		{"validator twice", func(h *handles, p *foretick.Protocol) {
			fn := func(*foretick.Frame, foretick.PlayerID, pad) error { return nil }
			foretick.CheckCommand(p, &h.pad, fn)
			foretick.CheckCommand(p, &h.pad, fn)
		}, "CheckCommand was declared twice"},
		{"decay twice", func(h *handles, p *foretick.Protocol) {
			foretick.Decay(p, &h.pad, func(*pad, int) {})
			foretick.Decay(p, &h.pad, func(*pad, int) {})
		}, "Decay was declared twice"},
		{"component that is the command", func(h *handles, p *foretick.Protocol) { p.Component(&h.pad) }, "Component of pad, which Command declares already"},
		{"event of another protocol", func(h *handles, p *foretick.Protocol) {
			q := foretick.NewProtocol("other", 1)
			h.shot.OnPredicted(q, func(*foretick.Frame, foretick.By, hit) {})
			h.shot.OnPredicted(p, func(*foretick.Frame, foretick.By, hit) {})
		}, "another Protocol"},
		{"component that is no struct", func(_ *handles, p *foretick.Protocol) { p.Component(&ecs.Component[int32]{}) }, "wrap the value in a struct"},
		{"empty option of a component", func(h *handles, p *foretick.Protocol) { p.Component(&h.purse, foretick.ComponentOption{}) }, "component purse has an empty option"},
		{"exact component that is not predicted", func(h *handles, p *foretick.Protocol) { p.Component(&h.purse, foretick.FullPrecision()) }, "add Predicted"},
		{"system that runs before nobody", func(_ *handles, p *foretick.Protocol) { p.Server("ai", nothing, ecs.Before("none")) }, "not in the stage"},
		{"system of no stage", func(_ *handles, p *foretick.Protocol) { p.Server("ai", nothing, ecs.Stage("none")) }, "name it in Stages"},
		{"stage twice", func(_ *handles, p *foretick.Protocol) { p.Stages("a", "b", "a") }, "named twice"},
		{"stage without a name", func(_ *handles, p *foretick.Protocol) { p.Stages("") }, "needs a name"},
		{"stages of none", func(_ *handles, p *foretick.Protocol) { p.Stages() }, "name at least one"},
		{"stages declared twice", func(_ *handles, p *foretick.Protocol) { p.Stages("a"); p.Stages("b") }, "Stages was declared twice"},
		{"tag of who draws", func(_ *handles, p *foretick.Protocol) { p.Shared("ai", nothing, ecs.Tags(foretick.TagRender)) }, "shared system \"ai\" has the tag \"render\"\ndeclare it with Render"},
		{"tag in lines", func(_ *handles, p *foretick.Protocol) { p.Server("ai", nothing, ecs.Tags("a\nb")) }, "system \"ai\": tag \"a\\nb\": the name has characters that cannot be printed"},
		{"too long a tag", func(_ *handles, p *foretick.Protocol) {
			p.Shared("ai", nothing, ecs.Tags(strings.Repeat("t", 256)))
		}, "system \"ai\": tag \"ttt\nuse up to 255"},
		{"more tags than a world has bits", func(_ *handles, p *foretick.Protocol) {
			for i := range 62 {
				p.Shared(fmt.Sprint("ai", i), nothing, ecs.Tags(fmt.Sprint("tag ", i)))
			}
		}, "62 tags of the game's own: use up to 61, and give"},
		{"empty tag", func(_ *handles, p *foretick.Protocol) { p.Server("ai", nothing, ecs.Tags("")) }, "which no world has"},
		{"tags of both ends", func(_ *handles, p *foretick.Protocol) { p.Server("ai", nothing, ecs.Tags(foretick.TagClient)) }, "would run on neither"},
		{"shared render system", func(_ *handles, p *foretick.Protocol) { p.Shared("ai", nothing, ecs.Render()) }, "declare it with Render"},

		{"component registered past the protocol", func(h *handles, p *foretick.Protocol) {
			require.NoError(t, p.Types().Register(&ecs.Component[steep]{}))
		}, "steep was registered with Types().Register: declare it with Protocol.LocalComponent"},

		// Numbers.
		{"tick rate of 0", func(_ *handles, p *foretick.Protocol) { p.SetTickRate(0) }, "use 10 to 128"},
		{"negative tick rate", func(_ *handles, p *foretick.Protocol) { p.SetTickRate(-30) }, "use 10 to 128"},
		{"tables", func(_ *handles, p *foretick.Protocol) { p.CompressionTables([]byte{1, 2, 3}) }, ""},
		{"default that is no number", func(h *handles, p *foretick.Protocol) {
			foretick.Default(p, &h.player, &h.place, place{X: float32(math.NaN())})
		}, "place.X\nuse -100 to 100"},
		{"default out of range", func(h *handles, p *foretick.Protocol) {
			foretick.Default(p, &h.player, &h.health, health{Points: 101})
		}, "health.Points\nuse 0 to 100"},
		{"infinite default", func(_ *handles, p *foretick.Protocol) {
			var c ecs.Component[steep]
			var k ecs.Prefab
			p.Component(&c)
			p.Prefab(&k, "hill", &c)
			foretick.Default(p, &k, &c, steep{Y: float32(math.Inf(1))})
		}, "steep.Y is not a number"},
		{"interest within nothing", func(h *handles, p *foretick.Protocol) {
			foretick.Interest(p, &h.place, snapshot.AreaConfig{}, never)
		}, "Enter is 0: use a positive distance"},
		{"interest within no number", func(h *handles, p *foretick.Protocol) {
			foretick.Interest(p, &h.place, snapshot.AreaConfig{Enter: float32(math.NaN())}, never)
		}, "use a positive distance"},
		{"interest that ends before it begins", func(h *handles, p *foretick.Protocol) {
			foretick.Interest(p, &h.place, snapshot.AreaConfig{Enter: 5, Leave: 4}, never)
		}, "use Enter (5) or more"},
		{"cells of no width", func(h *handles, p *foretick.Protocol) {
			foretick.Interest(p, &h.place, snapshot.AreaConfig{Enter: 5, Cell: float32(math.NaN())}, never)
		}, "Cell is NaN"},
		{"endless cells", func(h *handles, p *foretick.Protocol) {
			foretick.Interest(p, &h.place, snapshot.AreaConfig{Enter: 5, Cell: float32(math.Inf(1))}, never)
		}, "Cell is +Inf"},
		{"channel that repeats too often", func(_ *handles, p *foretick.Protocol) { p.Channel("a", netcode.Channel{Repeat: 17}) }, "must be 1 to 16"},
		{"channel with a short queue", func(_ *handles, p *foretick.Protocol) { p.Channel("a", netcode.Channel{Reliable: true, Queue: 1}) }, "Queue is 1"},

		// Layout.
		{"int in a component", func(_ *handles, p *foretick.Protocol) { p.Component(&ecs.Component[wide]{}) }, "wide.N\nuse int32 or int64"},
		{"uint in a command", func(_ *handles, p *foretick.Protocol) {
			*p = *foretick.NewProtocol("other", 1)
			p.Command(&ecs.Component[unsigned]{})
		}, "unsigned.N\nuse uint32 or uint64"},
		{"uintptr in a message", func(_ *handles, p *foretick.Protocol) {
			(&foretick.Message[machine]{}).OnClient(p, func(*foretick.Frame, foretick.Tick, machine) {})
		}, "machine.P\nuse uint32 or uint64"},
		{"int in a request", func(_ *handles, p *foretick.Protocol) {
			(&foretick.Request[wide]{}).Handle(p, func(*foretick.ServerFrame, foretick.PlayerID, wide) {})
		}, "wide.N\nuse int32 or int64"},
		{"int that is predicted and does not travel", func(_ *handles, p *foretick.Protocol) {
			p.Component(&ecs.Component[nothingIn]{}, foretick.Predicted())
		}, "nothingIn.Here\nuse int32 or int64"},

		// Too late.
		{"late component", late(func(h *handles, p *foretick.Protocol) { p.Component(&h.purse) }), "Component after Err: declare everything before"},
		{"late local", late(func(h *handles, p *foretick.Protocol) { p.LocalComponent(&h.purse) }), "LocalComponent after Err"},
		{"late command", late(func(h *handles, p *foretick.Protocol) { p.Command(&h.purse) }), "Command after Err"},
		{"late prefab", late(func(h *handles, p *foretick.Protocol) { p.Prefab(&h.prefabs[0], "x", &h.place) }), "Prefab after Err"},
		{"late default", late(func(h *handles, p *foretick.Protocol) { foretick.Default(p, &h.player, &h.place, place{}) }), "Default after Err"},
		{"late system", late(func(_ *handles, p *foretick.Protocol) { p.Shared("more", nothing) }), "system \"more\" after Err"},
		{"late server system", late(func(_ *handles, p *foretick.Protocol) { p.Server("more", nothing) }), "system \"more\" after Err"},
		{"late hook", late(func(_ *handles, p *foretick.Protocol) { p.OnJoin(func(*foretick.ServerFrame, foretick.PlayerID) {}) }), "OnJoin after Err"},
		{"late level", late(func(_ *handles, p *foretick.Protocol) { p.OnLevel(func(*foretick.Frame, []byte) {}) }), "OnLevel after Err"},
		{"late tick rate", late(func(_ *handles, p *foretick.Protocol) { p.SetTickRate(60) }), "TickRate after Err"},
		{"late tables", late(func(_ *handles, p *foretick.Protocol) { p.CompressionTables(nil) }), "Tables after Err"},
		{"late stages", late(func(_ *handles, p *foretick.Protocol) { p.Stages("a") }), "Stages after Err"},
		{"late order", late(func(_ *handles, p *foretick.Protocol) { p.InOrder() }), "InOrder after Err"},
		{"late channel", late(func(_ *handles, p *foretick.Protocol) { p.Channel("a", netcode.Channel{}) }), "Channel after Err"},
		{"late audience", late(func(_ *handles, p *foretick.Protocol) { p.Audience("a") }), "Audience after Err"},
		{"late asset", late(func(h *handles, p *foretick.Protocol) { p.Asset(&h.player, "a") }), "Asset after Err"},
		{"late spawns", late(func(h *handles, p *foretick.Protocol) { p.Spawns(&h.player, foretick.SpawnConfig{}) }), "Spawns after Err"},
		{"late event", late(func(h *handles, p *foretick.Protocol) {
			h.shot.OnServer(p, func(*foretick.ServerFrame, foretick.By, hit) {})
		}), "event hit after Err"},
		{"late message", late(func(h *handles, p *foretick.Protocol) {
			h.score.OnClient(p, func(*foretick.Frame, foretick.Tick, health) {})
		}), "message health after Err"},
		{"late request", late(func(h *handles, p *foretick.Protocol) {
			h.wish.Handle(p, func(*foretick.ServerFrame, foretick.PlayerID, hit) {})
		}), "request hit after Err"},
		{"late volume", late(func(h *handles, p *foretick.Protocol) { foretick.Hitbox(p, &h.place, sphere) }), "Hitbox after Err"},
		{"late volumes", late(func(h *handles, p *foretick.Protocol) {
			foretick.Hitboxes(p, func(*foretick.HitboxBuilder) {}, &h.place)
		}), "Hitboxes after Err"},
		{"late shapes", late(func(_ *handles, p *foretick.Protocol) { p.Shapes() }), "Shapes after Err"},
		{"late memory", late(func(h *handles, p *foretick.Protocol) { foretick.TrackHistory(p, &h.place) }), "TrackHistory after Err"},
		{"late interest", late(func(h *handles, p *foretick.Protocol) {
			foretick.Interest(p, &h.place, snapshot.AreaConfig{Enter: 1}, never)
		}), "Interest after Err"},
		{"late relevance", late(func(h *handles, p *foretick.Protocol) {
			p.Relevant(func(*foretick.Frame, foretick.PlayerID, ecs.Entity) snapshot.Relevance { return 0 }, &h.player)
		}), "Relevant after Err"},
		{"late remote prediction", late(func(h *handles, p *foretick.Protocol) {
			foretick.PredictRemote(p, &h.pad, guess, foretick.RemoteConfig{})
		}), "PredictRemote after Err"},
		{"late validator", late(func(h *handles, p *foretick.Protocol) {
			foretick.CheckCommand(p, &h.pad, func(*foretick.Frame, foretick.PlayerID, pad) error { return nil })
		}), "CheckCommand after Err"},
	} {
		misuse{m.name, func() error {
			p := declare(m.spoil)
			err := p.Err()
			_, again := server.New(server.Config{Protocol: p, Transport: sim.NewNetwork(1).Listen()})
			if err != nil {
				require.Error(t, again, m.name)
			}
			return err
		}, m.want}.refused(t)
	}
}

// TestMisuseOfVersion: a version must fit in 32 bits, even if an int has more.
func TestMisuseOfVersion(t *testing.T) {
	if math.MaxInt > math.MaxInt32 {
		misuse{"version", func() error { return foretick.NewProtocol("a", math.MaxInt).Err() }, "use −2³¹ to 2³¹−1"}.refused(t)
	}
}

type absentModule struct{ h *handles }

func (m *absentModule) Declare(p *foretick.Protocol) { p.Component(&m.h.place) }

// pool is a type of executor; the tests pass a nil one.
type pool struct{}

func (*pool) Run(int, func(int)) {}

// TestMisuseOfConfigs: meaningless values in a config are errors when the end is made.
func TestMisuseOfConfigs(t *testing.T) {
	n := sim.NewNetwork(1)
	h := &handles{}
	other := foretick.NewProtocol("other", 1)
	other.Component(&h.place)
	other.Command(&h.pad)
	require.NoError(t, other.Err())
	deaf := func(spoil func(h *handles, p *foretick.Protocol)) *foretick.Protocol { return declare(spoil) }
	var noUDP *udp.Endpoint
	srv := func(change func(c *server.Config)) func() error {
		return func() error {
			c := server.Config{Protocol: declare(nil), Transport: n.Listen()}
			change(&c)
			_, err := server.New(c)
			return err
		}
	}
	cl := func(change func(c *client.Config)) func() error {
		return func() error {
			c := client.Config{Protocol: declare(nil), Transport: n.Dial(n.Listen(), sim.LAN, sim.LAN)}
			change(&c)
			_, err := client.New(c)
			return err
		}
	}
	read := func(client.View) pad { return pad{} }
	for _, m := range []misuse{
		{"server without a protocol", srv(func(c *server.Config) { c.Protocol = nil }), "Protocol is nil"},
		{"server without a transport", srv(func(c *server.Config) { c.Transport = nil }), "Transport is nil\nudp.Listen"},
		{"server on a transport that failed", srv(func(c *server.Config) { c.Transport = noUDP }), "Transport is nil\nlook at its error"},
		{"server with a faulty protocol", srv(func(c *server.Config) { c.Protocol = foretick.NewProtocol("", 1) }), "needs a name"},
		{"server of a request that nothing handles", srv(func(c *server.Config) {
			c.Protocol = deaf(func(h *handles, p *foretick.Protocol) { h.wish.Handle(p, nil) })
		}), "request hit has no function on the server"},
		{"too many clients", srv(func(c *server.Config) { c.MaxClients = 1 << 20 }), "use 1 to 4096"},
		{"snapshots faster than ticks", srv(func(c *server.Config) { c.SnapshotRate = 60 }), "must divide the tick rate"},
		{"recorder of another maker", srv(func(c *server.Config) { c.Recorder = new(bytes.Buffer) }), "server.Config.Recorder is a *bytes.Buffer\ngive what flight.New returns"},
		{"negative snapshots", srv(func(c *server.Config) { c.SnapshotRate = -30 }), "must divide the tick rate"},
		{"server's absurd rate", srv(func(c *server.Config) { c.SendRate = 1<<31 - 1 }), "SendRate\nuse up to 2³⁰"},
		{"server's timeout of nothing", srv(func(c *server.Config) { c.Timeout = 1 }), "Timeout is 1ns: use 100ms to 24h"},
		{"server's endless timeout", srv(func(c *server.Config) { c.Timeout = math.MaxInt64 }), "use 100ms to 24h"},
		{"endless repeats", srv(func(c *server.Config) { c.RepeatInput = math.MaxInt64 }), "RepeatInput\nuse up to 1m"},
		{"endless decay", srv(func(c *server.Config) { c.DecayInput = math.MaxInt64 }), "DecayInput\nuse up to 1m"},
		{"rewind of a minute", srv(func(c *server.Config) { c.MaxRewind = time.Minute }), "MaxRewind is 1m0s: use up to 1s"},
		{"growth of a minute", srv(func(c *server.Config) { c.RewindGrowth = time.Minute }), "RewindGrowth is 1m0s: use up to 1s"},
		{"executor that is none", srv(func(c *server.Config) { c.Executor = (*pool)(nil) }), "Executor is a nil pointer"},

		{"client without a protocol", cl(func(c *client.Config) { c.Protocol = nil }), "Protocol is nil"},
		{"client without a transport", cl(func(c *client.Config) { c.Transport = nil }), "Transport is nil\nudp.Dial"},
		{"client on a transport that failed", cl(func(c *client.Config) { c.Transport = noUDP }), "Transport is nil\nlook at its error"},
		{"client with a message that nothing takes", cl(func(c *client.Config) {
			c.Protocol = deaf(func(h *handles, p *foretick.Protocol) { h.score.OnClient(p, nil) })
		}), "message health has no function on the client"},
		{"sampler of a foreign command", cl(func(c *client.Config) { c.Sample = client.Sample(&h.pad, read) }), "not the protocol's Command"},
		{"sampler of a foreign component with the command's number", cl(func(c *client.Config) {
			var first, second, third ecs.Component[long]
			q := foretick.NewProtocol("three", 1)
			q.LocalComponent(&first)
			require.NoError(t, q.Types().Register(&second, ecs.Named("second")))
			require.NoError(t, q.Types().Register(&third, ecs.Named("third")))
			c.Sample = client.Sample(&third, func(client.View) long { return long{} })
		}), "not the protocol's Command"},
		{"sampler of nil", cl(func(c *client.Config) { c.Sample = client.Sample(nil, read) }), "Sample is given a nil component"},
		{"sampler without a function", cl(func(c *client.Config) { c.Sample = client.Sample[pad](&h.pad, nil) }), "Sample has no function"},
		{"client's negative round trip", cl(func(c *client.Config) { c.MaxRTT = -1 }), "MaxRTT"},
		{"client's absurd history", cl(func(c *client.Config) { c.History = 1 << 20 }), "History"},
		{"client's absurd rate", cl(func(c *client.Config) { c.SendRate = 1<<31 - 1 }), "SendRate\nuse up to 2³⁰"},
		{"client's absurd wish", cl(func(c *client.Config) { c.ReceiveRate = 1<<31 - 1 }), "ReceiveRate"},
		{"client's absurd snapshots", cl(func(c *client.Config) { c.SnapshotRate = 1000 }), "use 1 to 255"},
		{"client's timeout of nothing", cl(func(c *client.Config) { c.Timeout = 1 }), "use 100ms to 24h"},
		{"client's endless timeout", cl(func(c *client.Config) { c.Timeout = math.MaxInt64 }), "use 100ms to 24h"},
		{"corrections up to no number", cl(func(c *client.Config) { c.SmoothLimit = float32(math.NaN()) }), "SmoothLimit is NaN, not a number"},
		{"corrections that never fade", cl(func(c *client.Config) { c.SmoothHalfLife = time.Hour }), "use up to 10s"},
		{"rehearsal beyond the history", func() error {
			c, err := client.New(client.Config{Protocol: declare(nil), Transport: n.Dial(n.Listen(), sim.LAN, sim.LAN)})
			require.NoError(t, err)
			return campaign.SyncTestClient(c, 32, nil)
		}, "less than client.Config.History"},
		{"rehearsal of a client that runs", func() error {
			c, err := client.New(client.Config{Protocol: declare(nil), Transport: n.Dial(n.Listen(), sim.LAN, sim.LAN)})
			require.NoError(t, err)
			c.Step(time.Unix(0, 0))
			return campaign.SyncTestClient(c, 4, nil)
		}, "before the client's first Step"},

		{"run without pictures", func() error {
			c, err := client.New(client.Config{Protocol: declare(nil), Transport: n.Dial(n.Listen(), sim.LAN, sim.LAN)})
			require.NoError(t, err)
			return c.Run(context.Background(), 0, nil)
		}, "time.Second / 60"},
		{"negative wish", func() error {
			c, err := client.New(client.Config{Protocol: declare(nil), Transport: n.Dial(n.Listen(), sim.LAN, sim.LAN)})
			require.NoError(t, err)
			return c.Configure(-1, 0)
		}, "use 0 to 255"},
		{"long level", func() error {
			s, err := server.New(server.Config{Protocol: declare(nil), Transport: n.Listen()})
			require.NoError(t, err)
			return s.NextLevel(make([]byte, 2000), nil)
		}, "the most is 1024"},

		// Calls on a frame.
		{"spawn of nil", onFrame(func(_ *handles, f *foretick.ServerFrame) { f.Spawn(nil, 1) }), "not declared with Protocol.Prefab"},
		{"spawn of an undeclared prefab", onFrame(func(h *handles, f *foretick.ServerFrame) { f.Spawn(&h.prefabs[0], 1) }), "not declared with Protocol.Prefab"},
		{"spawn by nobody's prefab", onFrame(func(h *handles, f *foretick.ServerFrame) {
			f.SpawnBy(f.Spawn(&h.player, 1), &h.prefabs[0])
		}), "not declared with Protocol.Prefab"},
		{"spawn for a part of clients", onFrame(func(h *handles, f *foretick.ServerFrame) { f.Spawn(&h.player, ecs.Common) }), "spawn it for ecs.Nobody"},
		{"spawn past the frame", onFrame(func(h *handles, f *foretick.ServerFrame) { f.World.Spawn(&h.player, 1) }), "World.Spawn of prefab \"player\"\nFrame.Spawn"},
		{"spawn of many past the frame", onFrame(func(h *handles, f *foretick.ServerFrame) {
			f.World.SpawnBatch(&h.player, 1, make([]ecs.Entity, 2))
		}), "World.Spawn of prefab \"player\""},
		{"destruction past the frame", onFrame(func(h *handles, f *foretick.ServerFrame) { f.World.Destroy(f.Spawn(&h.player, 1)) }), "World.Destroy\nFrame.Destroy"},
		{"destruction of an owner's past the frame", onFrame(func(h *handles, f *foretick.ServerFrame) {
			f.Spawn(&h.player, 1)
			ecs.Engine(f.World).ReleaseOwner(1)
		}), "World.Destroy\nFrame.Destroy"},
		{"undeclared message", func() error { return new(foretick.Message[hit]).Send(nil, 1, hit{}) }, "message hit\ncall its OnClient"},
		{"broadcast of an undeclared message", func() error { new(foretick.Message[hit]).Broadcast(nil, hit{}); return nil }, "message hit\ncall its OnClient"},
		{"undeclared request", func() error { return new(foretick.Request[hit]).Send(nil, hit{}) }, "call its Handle"},
	} {
		m.refused(t)
	}
}

// onFrame calls something with a server's frame between two ticks.
func onFrame(call func(h *handles, f *foretick.ServerFrame)) func() error {
	return func() error {
		var h *handles
		p := declare(func(own *handles, _ *foretick.Protocol) { h = own })
		s, err := server.New(server.Config{Protocol: p, Transport: sim.NewNetwork(1).Listen()})
		if err != nil {
			return err
		}
		call(h, s.Frame())
		return nil
	}
}

// TestMisuseOfTransports: wrong calls of the transports and of simtest are errors too.
func TestMisuseOfTransports(t *testing.T) {
	udpWith := func(c udp.Config) func() error {
		return func() error { _, err := udp.Listen("127.0.0.1:0", c); return err }
	}
	wsWith := func(c ws.Config) func() error {
		return func() error { _, err := ws.Listen("127.0.0.1:0", c); return err }
	}
	nan := math.NaN()
	plan := func(change func(p *simtest.Plan)) func() error {
		return func() error {
			p := simtest.Plan{New: func() simtest.Player { return simtest.Player{Protocol: declare(nil)} }}
			change(&p)
			_, err := p.Run(1)
			return err
		}
	}
	syncTest := func(c simtest.SyncConfig) func() error {
		return func() error {
			_, err := simtest.FindDesyncs(func() simtest.Player { return simtest.Player{Protocol: declare(nil)} }, c)
			return err
		}
	}
	for _, m := range []misuse{
		{"udp address", func() error { _, err := udp.Listen("nowhere:port", udp.Config{}); return err }, "cannot listen"},
		{"udp peers", udpWith(udp.Config{MaxPeers: 1 << 20}), "may be 1 to 65536"},
		{"udp timeout", udpWith(udp.Config{Timeout: 1}), "may not be under 500 ms"},
		{"udp endless timeout", udpWith(udp.Config{Timeout: math.MaxInt64}), "Timeout"},
		{"udp same", udpWith(udp.Config{Same: 9}), "ReplaceOld"},
		{"udp queue", udpWith(udp.Config{ReceiveQueue: 1 << 30}), "may be 1 to 65536"},
		{"udp send queue", udpWith(udp.Config{SendQueue: 1<<31 - 1}), "SendQueue"},
		{"udp socket", udpWith(udp.Config{SocketBuffer: 1<<31 - 1}), "SocketBuffer"},
		{"udp token", udpWith(udp.Config{Token: make([]byte, 1<<16)}), "Token"},
		{"dtls with nothing", func() error { _, err := dtls.Listen("127.0.0.1:0", dtls.Config{}); return err }, "Gate\nCertificate"},
		{"ws peers", wsWith(ws.Config{MaxPeers: 1 << 20}), "MaxPeers"},
		{"ws timeout", wsWith(ws.Config{Timeout: 1}), "Timeout"},
		{"ws endless timeout", wsWith(ws.Config{Timeout: math.MaxInt64}), "Timeout"},
		{"link with no number", func() error { return sim.Link{Loss: nan}.Validate() }, "Link.Loss is NaN"},
		{"link with an endless latency", func() error { return sim.Link{Latency: math.MaxInt64}.Validate() }, "Link.Latency"},
		{"impaired nothing", func() error {
			impair.Wrap(nil, sim.Link{}, sim.Link{}, 1)
			return nil
		}, "nil"},

		{"plan of nothing", func() error { _, err := simtest.Plan{}.Run(1); return err }, "Plan.New is nil"},
		{"plan whose game has no protocol", plan(func(p *simtest.Plan) { p.New = func() simtest.Player { return simtest.Player{} } }), "Protocol"},
		{"plan of no clients", plan(func(p *simtest.Plan) { p.Clients = -1 }), "one client"},
		{"plan of negative time", plan(func(p *simtest.Plan) { p.Play = -time.Second }), "negative"},
		{"plan with clocks of no number", plan(func(p *simtest.Plan) { p.Drift = nan }), "Drift"},
		{"plan with clocks that stand still", plan(func(p *simtest.Plan) { p.Drift = 1 }), "Drift"},
		{"plan with a link of no number", plan(func(p *simtest.Plan) { p.Links = []sim.Link{{Loss: nan}} }), "Links[0]"},
		{"plan whose calm is of no number", plan(func(p *simtest.Plan) { p.Calm = sim.Link{Loss: nan} }), "Calm"},
		{"plan of one client that sends extremes", plan(func(p *simtest.Plan) { p.Clients, p.Extremes = 1, true }), "Plan.Extremes"},
		{"plan with too many frames", plan(func(p *simtest.Plan) { p.FrameRate = 1 << 30 }), "FrameRate"},
		{"rehearsal of nothing", func() error { _, err := simtest.FindDesyncs(nil, simtest.SyncConfig{}); return err }, "newPlayer is nil"},
		{"rehearsal without a protocol", func() error {
			_, err := simtest.FindDesyncs(func() simtest.Player { return simtest.Player{} }, simtest.SyncConfig{})
			return err
		}, "returned no Protocol"},
		{"rehearsal of negative ticks", syncTest(simtest.SyncConfig{Ticks: -1}), "Ticks"},
		{"rehearsal of nobody", syncTest(simtest.SyncConfig{Players: -1}), "Players"},
		{"rehearsal that goes back too far", syncTest(simtest.SyncConfig{Back: 1000}), "History"},
	} {
		m.refused(t)
	}
}

// twice is a game whose one value makes the protocols of both the server and the client.
type twice struct {
	pos    ecs.Component[place]
	cmd    ecs.Component[pad]
	player ecs.Prefab
}

func (g *twice) protocol(command bool) *foretick.Protocol {
	p := foretick.NewProtocol("twice", 1)
	p.Component(&g.pos, foretick.Predicted())
	if command {
		p.Command(&g.cmd)
	}
	p.Prefab(&g.player, "player", &g.pos, &g.cmd)
	p.Shared("move", nothing, ecs.Read(&g.cmd), ecs.Write(&g.pos))
	return p
}

// Two frequent mistakes. Each line of the error names a fix, and no fix is wrong.
func TestMisuseNamesTheRightFix(t *testing.T) {
	g := &twice{}
	require.NoError(t, g.protocol(true).Err())
	err := g.protocol(true).Err()
	require.Error(t, err)
	for _, line := range strings.Split(err.Error(), "\n") {
		require.Contains(t, line, "new(Game).Protocol()")
	}
	err = new(twice).protocol(false).Err()
	require.Error(t, err)
	for _, line := range strings.Split(err.Error(), "\n") {
		require.Contains(t, line, "Command")
		require.Contains(t, line, "if it is the players' input")
	}
}
