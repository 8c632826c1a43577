package foretick_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/settled"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/relay"
	"github.com/foretick/foretick/rollback"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// limits has those rows of the page about limits that an error reports, by the row's first column.
// The function declares or configures n of what the row is about, and returns the error.
var limits = map[string]func(n int) error{
	"replicated components": of(func(p *foretick.Protocol, n int) {
		cs, _, _ := madeTypes()
		for _, c := range cs[:n] {
			p.Component(c)
		}
	}),
	"singletons that are sent": of(func(p *foretick.Protocol, n int) {
		_, ss, _ := madeTypes()
		for _, s := range ss[:n] {
			p.Singleton(s)
		}
	}),
	"types": func(n int) error {
		const own = 1 // the library's own type
		return crowd(10, 40, n-10-40-own, nil).Err()
	},
	"prefabs": of(func(p *foretick.Protocol, n int) {
		for i := range n {
			p.Prefab(new(ecs.Prefab), fmt.Sprint("kind ", i))
		}
	}),
	"words of all components": func(n int) error {
		p, cs := foretick.NewProtocol("limits", 1), []ecs.Handle{
			new(ecs.Component[huge[digit0]]), new(ecs.Component[huge[digit1]]), new(ecs.Component[huge[digit2]]), new(ecs.Component[huge[digit3]]),
			new(ecs.Component[huge[digit4]]), new(ecs.Component[huge[digit5]]), new(ecs.Component[huge[digit6]]), new(ecs.Component[huge[digit7]]),
			new(ecs.Component[point]),
		}
		for _, c := range cs[:(n+4095)/4096] {
			p.Component(c)
		}
		return read(p)
	},
	"words of all prefabs": func(n int) error {
		p := foretick.NewProtocol("limits", 1)
		var big ecs.Component[huge[digit0]]
		var small ecs.Component[point]
		p.Component(&big)
		p.Component(&small)
		for i := range n / 4096 {
			p.Prefab(new(ecs.Prefab), fmt.Sprint("big ", i), &big)
		}
		for i := range n % 4096 {
			p.Prefab(new(ecs.Prefab), fmt.Sprint("small ", i), &small)
		}
		return read(p)
	},
	"audiences": of(func(p *foretick.Protocol, n int) {
		for i := range n {
			p.Audience(fmt.Sprint("audience ", i))
		}
	}),
	"channels": of(func(p *foretick.Protocol, n int) {
		for i := range n {
			p.Channel(fmt.Sprint("channel ", i), netcode.Channel{Reliable: true, Priority: 1})
		}
	}),
	"messages": of(func(p *foretick.Protocol, n int) {
		for range n {
			new(foretick.Message[point]).OnClient(p, func(*foretick.Frame, foretick.Tick, point) {})
		}
	}),
	"requests": of(func(p *foretick.Protocol, n int) {
		for range n {
			new(foretick.Request[point]).Handle(p, func(*foretick.ServerFrame, foretick.PlayerID, point) {})
		}
	}),
	"fields of all messages and requests": of(func(p *foretick.Protocol, n int) {
		for range n / 1024 {
			new(foretick.Message[kilo]).OnClient(p, func(*foretick.Frame, foretick.Tick, kilo) {})
		}
		for range n % 1024 {
			new(foretick.Message[point]).OnClient(p, func(*foretick.Frame, foretick.Tick, point) {})
		}
	}),
	"tags of systems": of(func(p *foretick.Protocol, n int) {
		for i := range n {
			p.Shared(fmt.Sprint("system ", i), func(*foretick.Frame, ecs.Rows) {}, ecs.Once(), ecs.Tags(fmt.Sprint("tag ", i)))
		}
	}),
	"custom shapes": of(func(p *foretick.Protocol, n int) {
		for range n {
			p.Shapes(shapeless{})
		}
	}),
	"ticks a second": of(func(p *foretick.Protocol, n int) { p.SetTickRate(n) }),

	"words of a component or message": field(func(n int) (reflect.Type, string) { return reflect.ArrayOf(n, reflect.TypeFor[int8]()), "" }),
	"elements of a slice":             field(func(n int) (reflect.Type, string) { return reflect.TypeFor[[]bool](), fmt.Sprintf(`net:"max=%d"`, n) }),
	"bytes of a string":               field(func(n int) (reflect.Type, string) { return reflect.TypeFor[string](), fmt.Sprintf(`net:"max=%d"`, n) }),
	"numbers of a vector with vec": field(func(n int) (reflect.Type, string) {
		return reflect.ArrayOf(n, reflect.TypeFor[float32]()), `net:"vec,lerp"`
	}),
	"bits of a quat": field(func(n int) (reflect.Type, string) {
		return reflect.TypeFor[[4]float32](), fmt.Sprintf(`net:"quat,bits=%d"`, n)
	}),
	"fields with a name, unit or enum": func(n int) error {
		fields := make([]reflect.StructField, n)
		for i := range fields {
			fields[i] = reflect.StructField{Name: fmt.Sprint("F", i), Type: reflect.TypeFor[uint8](), Tag: `unit:"m"`}
		}
		return schema.Labels{}.Add("c", reflect.StructOf(fields))
	},
	"values of an enum": field(func(n int) (reflect.Type, string) {
		return reflect.TypeFor[uint16](), `enum:"v` + strings.Repeat(",v", n-1) + `"`
	}),
	"bytes of a name": of(func(p *foretick.Protocol, n int) {
		p.Prefab(new(ecs.Prefab), strings.Repeat("n", n))
	}),
	"bytes of a command": of(func(p *foretick.Protocol, n int) {
		if p.Command(new(ecs.Component[struct{ V [1024]uint8 }])); n > 1024 {
			*p = *foretick.NewProtocol("limits", 1)
			p.Command(new(ecs.Component[struct{ V [1025]uint8 }]))
		}
	}),
	"bytes of a message on a channel that is not reliable": of(func(p *foretick.Protocol, n int) {
		p.Channel("fast", netcode.Channel{Priority: 1})
		if n > 256 {
			(&foretick.Message[struct{ V [257]uint8 }]{Channel: "fast"}).OnClient(p, nil)
		} else {
			(&foretick.Message[struct{ V [256]uint8 }]{Channel: "fast"}).OnClient(p, nil)
		}
	}),

	"server.Config.MaxClients":           serves(func(c *server.Config, n int) { c.MaxClients = n }),
	"server.Config.MaxObservers":         serves(func(c *server.Config, n int) { c.MaxObservers = n }),
	"server.Config.MaxWaitingPerAddress": serves(func(c *server.Config, n int) { c.MaxWaitingPerAddress = n }),
	"server.Config.MaxHeldPerAddress":    serves(func(c *server.Config, n int) { c.MaxHeldPerAddress = n }),
	"server.Config.ReconnectWindow":      serves(func(c *server.Config, n int) { c.ReconnectWindow = time.Duration(n) * time.Hour }),
	"client.Config.SmoothHalfLife":       joins(func(c *client.Config, n int) { c.SmoothHalfLife = time.Duration(n) * time.Second }),
	"server.Config.Late.Window":          serves(func(c *server.Config, n int) { c.Late.Window = time.Duration(n) * time.Millisecond }),
	"server.Config.Late.Share":           serves(func(c *server.Config, n int) { c.Late.Window, c.Late.Share = time.Second/10, float64(n)/100 }),
	"server.Config.MaxRewind":            serves(func(c *server.Config, n int) { c.MaxRewind = time.Duration(n) * time.Millisecond }),
	"server.Config.RewindGrowth":         serves(func(c *server.Config, n int) { c.RewindGrowth = time.Duration(n) * time.Millisecond }),
	"server.Config.RepeatInput":          serves(func(c *server.Config, n int) { c.RepeatInput = time.Duration(n) * time.Second }),
	"server.Config.Timeout":              serves(func(c *server.Config, n int) { c.Timeout = time.Duration(n) * time.Hour }),
	"server.Config.SendRate":             serves(func(c *server.Config, n int) { c.SendRate = n }),
	"client.Config.MaxRTT":               joins(func(c *client.Config, n int) { c.MaxRTT = time.Duration(n) * time.Millisecond }),
	"client.Config.InputDelay":           joins(func(c *client.Config, n int) { c.InputDelay = time.Duration(n) * time.Millisecond }),
	"client.Config.History":              joins(func(c *client.Config, n int) { c.History = n }),
	"client.Config.SnapshotRate":         joins(func(c *client.Config, n int) { c.SnapshotRate = n }),
	"client.Config.SnapshotBuffer":       joins(func(c *client.Config, n int) { c.SnapshotBuffer = time.Duration(n) * time.Millisecond }),
	"client.Config.LateShare":            joins(func(c *client.Config, n int) { c.LateShare = float64(n) / 100 }),

	"relay.Config.Players":              relays(func(c *relay.Config, n int) { c.Players = n }),
	"relay.Config.MaxObservers":         relays(func(c *relay.Config, n int) { c.MaxObservers = n }),
	"relay.Config.Wait":                 relays(func(c *relay.Config, n int) { c.Wait = time.Duration(n) * time.Millisecond }),
	"relay.Config.RepeatInput":          relays(func(c *relay.Config, n int) { c.RepeatInput = time.Duration(n) * time.Second }),
	"relay.Config.Timeout":              relays(func(c *relay.Config, n int) { c.Timeout = time.Duration(n) * time.Hour }),
	"relay.Config.History":              relays(func(c *relay.Config, n int) { c.History = time.Duration(n) * time.Second }),
	"relay.Config.CloseAfter":           relays(func(c *relay.Config, n int) { c.CloseAfter = time.Duration(n) * time.Hour }),
	"relay.Config.MaxWorld":             relays(func(c *relay.Config, n int) { c.MaxWorld = n }),
	"relay.Config.SendRate":             relays(func(c *relay.Config, n int) { c.SendRate = n }),
	"rollback.Config.Window":            rollsBack(func(c *rollback.Config, n int) { c.Window = n }),
	"rollback.Config.Delay":             rollsBack(func(c *rollback.Config, n int) { c.Delay = n }),
	"rollback.Config.DelayAbove":        rollsBack(func(c *rollback.Config, n int) { c.DelayAbove = time.Duration(n) * time.Millisecond }),
	"rollback.Config.Behind":            rollsBack(func(c *rollback.Config, n int) { c.Observe, c.Behind = true, n }),
	"rollback.Config.Timeout":           rollsBack(func(c *rollback.Config, n int) { c.Timeout = time.Duration(n) * time.Hour }),
	"rollback.Config.SendRate":          rollsBack(func(c *rollback.Config, n int) { c.SendRate = n }),
	"rollback.Config.MaxWorld":          rollsBack(func(c *rollback.Config, n int) { c.MaxWorld = n }),
	"rollback.Config.MaxEntities":       rollsBack(func(c *rollback.Config, n int) { c.MaxEntities = n }),
	"rollback.ReplayConfig.MaxWorld":    replays(func(c *rollback.ReplayConfig, n int) { c.MaxWorld = n }),
	"rollback.ReplayConfig.MaxEntities": replays(func(c *rollback.ReplayConfig, n int) { c.MaxEntities = n }),

	"client.Observe.Data": joins(func(c *client.Config, n int) { c.Observe = &client.Observe{Data: make([]byte, n)} }),
}

type (
	point       struct{ X uint8 }
	kilo        struct{ V [1024]uint8 }
	huge[T any] struct{ V [4096]uint8 }
	shapeless   struct{}
)

func (shapeless) Cast(lagcomp.Hitbox, lagcomp.Vec, lagcomp.Vec, float32, float32) (c lagcomp.Contact, ok bool) {
	return
}
func (shapeless) Closest(lagcomp.Hitbox, lagcomp.Vec) (c lagcomp.Contact) { return }

// shown has the other rows, with the name of the test that goes one above the limit.
var shown = map[string]string{
	"bytes of an entity's state, by the max of its fields": "TestRecordsTooLong",
	"entities that one player is shown":                    "TestMoreThanAPlayerCanBeShown",
	"entities first shown in one snapshot":                 "TestManyMoveAtOnce",
	"bytes of an entity's state":                           "TestRecordsTooLong",
	"bytes of an entity's state in one packet":             "TestLongRecords",
	"a string's bytes, or a slice's elements":              "TestStringsAndSlicesInAMatch",
	"a number":        "TestLosses",
	"a command's sum": "TestSumsOutOfRange",
	"bytes of reliable messages that wait for one player": "TestSlowConsumer",
	"bytes of requests that wait in a client":             "TestRequestLimits",
	"bytes of data for a level":                           "TestLongLevelData",
	"functions that wait in Server.Do":                    "TestDoIsBounded",
	"events raised by handlers of the same event":         "TestNestingIsCapped",
	"ticks computed in one Server.Step":                   "TestOverloadedServerKeepsItsPlayersInControl",
	"time that a shot looks back":                         "TestJudgeBounds",
	"combinations of components and owners at once":       "TestFullWorld",
	"groups of entities that a client holds":              "TestServerFillsTheWorld",
	"bytes of all players' inputs of a tick":              "TestTooLongCommand",
	"players that join or leave in one tick":              "TestJoinStaggered",
	"ticks that a peer runs ahead":                        "TestRollbackAtTheWindowsEnd",
	"time that a tick waits for an input":                 "TestSilentPlayerCostsWaitOnce",
	"time that a lost player's place is held":             "TestSilentPlayerCostsWaitOnce",
	"time that a peer may miss":                           "TestPeerThatFallsBehind",
	"bytes of a world that comes late":                    "TestWorldBeyondTheLimits",
	"bytes of a world that arrives within History":        "TestWorldsAroundTheBound",
	"time that a peer takes too little of its world":      "TestDeafGuestsGoToTheEnd",
	"bytes of inputs that a peer keeps for a replay":      "TestRecordIsBounded",
	"ticks of a match":                                    "TestMatchEndsBeforeItsTicksWrap",
	"entities in a world":                                 "", // not tested: 16 million take minutes
}

// TestLimits tries each row of docs/guide/limits.md: at the limit there is no error, and one above
// it there is the error that the page quotes.
func TestLimits(t *testing.T) {
	page, err := os.ReadFile("docs/guide/limits.md")
	require.NoError(t, err)
	tests := testNames(t)
	row := regexp.MustCompile("(?m)^\\| ([^|]*[^ |]) \\| (\\d+) \\| `([^`]+)` \\|")
	done := 0
	for _, line := range strings.Split(string(page), "\n") {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| of one") || strings.HasPrefix(line, "| setting") || strings.HasPrefix(line, "| | most") {
			continue
		}
		what, _, _ := strings.Cut(strings.TrimPrefix(strings.ReplaceAll(line, "`", ""), "| "), " |")
		try, tried := longest(limits, what)
		test, elsewhere := longest(shown, what)
		if !tried && !elsewhere {
			t.Errorf("the page has %q, and no test tries it", what)
			continue
		}
		done++
		if !tried {
			require.True(t, test == "" || tests[test], "%s: there is no %s", what, test)
			continue
		}
		cells := row.FindStringSubmatch(line)
		require.NotNil(t, cells, "write the row as | what | number | `error` |: %s", line)
		most, err := strconv.Atoi(cells[2])
		require.NoError(t, err)
		require.NoError(t, try(most), "%d of %s", most, what)
		over := try(most + 1)
		require.ErrorContains(t, over, cells[3], "%d of %s", most+1, what)
		if setting := configField.FindString(what); setting != "" {
			require.ErrorContains(t, over, setting)
		}
	}
	require.Equal(t, len(limits)+len(shown), done, "what is tried is on the page")
}

// configField is a setting as errors name it.
var configField = regexp.MustCompile(`^\w+\.\w*Config\.[\w.]+`)

// TestLimitsOfTicks: the numbers that settled ticks and their matches have are those of the code.
func TestLimitsOfTicks(t *testing.T) {
	page, err := os.ReadFile("docs/guide/limits.md")
	require.NoError(t, err)
	require.Contains(t, string(page), fmt.Sprintf("| bytes of all players' inputs of a tick | %d |", settled.MostTick))
	require.Contains(t, string(page), fmt.Sprintf("| players that join or leave in one tick | %d |", settled.MostChanges))
}

// longest returns the value of the longest key that a text begins with.
func longest[V any](of map[string]V, text string) (v V, ok bool) {
	best := ""
	for k := range of {
		if strings.HasPrefix(text, k) && len(k) > len(best) {
			best = k
		}
	}
	return of[best], best != ""
}

// testNames returns the names of all tests of the module.
func testNames(t *testing.T) map[string]bool {
	declared, names := regexp.MustCompile(`(?m)^func (Test\w+)\(`), map[string]bool{}
	for _, dir := range []string{".", "server", "client", "internal/matchtest", "simtest", "snapshot", "lagcomp", "relay", "rollback"} {
		files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
		require.NoError(t, err)
		for _, f := range files {
			src, err := os.ReadFile(f)
			require.NoError(t, err)
			for _, m := range declared.FindAllStringSubmatch(string(src), -1) {
				names[m[1]] = true
			}
		}
	}
	return names
}

// of returns a function that returns the error of a protocol with n of something.
func of(declare func(p *foretick.Protocol, n int)) func(int) error {
	return func(n int) error {
		p := foretick.NewProtocol("limits", 1)
		declare(p, n)
		return read(p)
	}
}

// read returns the error of a protocol, or if there is none, the error of reading its schema.
func read(p *foretick.Protocol) error {
	if err := p.Err(); err != nil {
		return err
	}
	_, err := schema.ReadProtocol(p.Schema(nil))
	return err
}

// field returns a function that returns the error of a component with one field. made chooses the
// field's type and tag, with n of something.
func field(made func(n int) (reflect.Type, string)) func(int) error {
	return func(n int) error {
		of, tag := made(n)
		t := reflect.StructOf([]reflect.StructField{{Name: "V", Type: of, Tag: reflect.StructTag(tag)}})
		_, err := schema.Compile(t, schema.Options{Name: "c"})
		return errors.Join(err, schema.Labels{}.Add("c", t))
	}
}

func serves(set func(c *server.Config, n int)) func(int) error {
	return func(n int) error {
		c := server.Config{Protocol: new(Walk).Protocol()}
		set(&c, n)
		_, err := simtest.New(1).Serve(c)
		return err
	}
}

func joins(set func(c *client.Config, n int)) func(int) error {
	return func(n int) error {
		c := client.Config{Protocol: new(Walk).Protocol()}
		net := sim.NewNetwork(1)
		c.Transport = net.Dial(net.Listen(), sim.Link{}, sim.Link{})
		set(&c, n)
		_, err := client.New(c)
		return err
	}
}

func relays(set func(c *relay.Config, n int)) func(int) error {
	return func(n int) error {
		c := relay.Config{Transport: sim.NewNetwork(1).Listen()}
		set(&c, n)
		_, err := relay.New(c)
		return err
	}
}

func rollsBack(set func(c *rollback.Config, n int)) func(int) error {
	return func(n int) error {
		net := sim.NewNetwork(1)
		c := rollback.Config{Protocol: new(Walk).Protocol(), Transport: net.Dial(net.Listen(), sim.Link{}, sim.Link{})}
		set(&c, n)
		_, err := rollback.New(c)
		return err
	}
}

// replays gives an error about the configuration alone, since nobody wrote the replay.
func replays(set func(c *rollback.ReplayConfig, n int)) func(int) error {
	return func(n int) error {
		c := rollback.ReplayConfig{Protocol: new(Walk).Protocol(), From: strings.NewReader("")}
		set(&c, n)
		_, err := rollback.NewReplay(c)
		if err != nil && !strings.Contains(err.Error(), "rollback.ReplayConfig.") {
			return nil
		}
		return err
	}
}

// made is a different type for each pair of digits.
type made[A, B any] struct {
	V int16
}

type (
	digit0  struct{}
	digit1  struct{}
	digit2  struct{}
	digit3  struct{}
	digit4  struct{}
	digit5  struct{}
	digit6  struct{}
	digit7  struct{}
	digit8  struct{}
	digit9  struct{}
	digit10 struct{}
	digit11 struct{}
	digit12 struct{}
	digit13 struct{}
	digit14 struct{}
	digit15 struct{}
)

// madeRow returns a component and a singleton of each type made whose first argument is A.
func madeRow[A any]() (comps, singles []ecs.Handle) {
	comps = []ecs.Handle{
		new(ecs.Component[made[A, digit0]]), new(ecs.Component[made[A, digit1]]), new(ecs.Component[made[A, digit2]]), new(ecs.Component[made[A, digit3]]),
		new(ecs.Component[made[A, digit4]]), new(ecs.Component[made[A, digit5]]), new(ecs.Component[made[A, digit6]]), new(ecs.Component[made[A, digit7]]),
		new(ecs.Component[made[A, digit8]]), new(ecs.Component[made[A, digit9]]), new(ecs.Component[made[A, digit10]]), new(ecs.Component[made[A, digit11]]),
		new(ecs.Component[made[A, digit12]]), new(ecs.Component[made[A, digit13]]), new(ecs.Component[made[A, digit14]]), new(ecs.Component[made[A, digit15]]),
	}
	singles = []ecs.Handle{
		new(ecs.Singleton[made[A, digit0]]), new(ecs.Singleton[made[A, digit1]]), new(ecs.Singleton[made[A, digit2]]), new(ecs.Singleton[made[A, digit3]]),
		new(ecs.Singleton[made[A, digit4]]), new(ecs.Singleton[made[A, digit5]]), new(ecs.Singleton[made[A, digit6]]), new(ecs.Singleton[made[A, digit7]]),
		new(ecs.Singleton[made[A, digit8]]), new(ecs.Singleton[made[A, digit9]]), new(ecs.Singleton[made[A, digit10]]), new(ecs.Singleton[made[A, digit11]]),
		new(ecs.Singleton[made[A, digit12]]), new(ecs.Singleton[made[A, digit13]]), new(ecs.Singleton[made[A, digit14]]), new(ecs.Singleton[made[A, digit15]]),
	}
	return comps, singles
}

// madeTypes returns 144 components and 144 singletons, all of different types, and components of
// the singletons' types in more.
func madeTypes() (comps, singles, more []ecs.Handle) {
	rows := []func() (c, s []ecs.Handle){
		madeRow[digit0], madeRow[digit1], madeRow[digit2], madeRow[digit3], madeRow[digit4], madeRow[digit5], madeRow[digit6], madeRow[digit7], madeRow[digit8],
		madeRow[made[digit0, digit0]], madeRow[made[digit1, digit1]], madeRow[made[digit2, digit2]], madeRow[made[digit3, digit3]], madeRow[made[digit4, digit4]],
		madeRow[made[digit5, digit5]], madeRow[made[digit6, digit6]], madeRow[made[digit7, digit7]], madeRow[made[digit8, digit8]],
	}
	for i, row := range rows {
		if c, s := row(); i < 9 {
			comps = append(comps, c...)
		} else {
			singles, more = append(singles, s...), append(more, c...)
		}
	}
	return comps, singles, more
}

// crowd declares a game of many components, singletons and local components. Four components are
// in a prefab.
func crowd(comps, singles, locals int, also func(p *foretick.Protocol, k *ecs.Prefab)) *foretick.Protocol {
	p := foretick.NewProtocol("crowd", 1)
	cs, ss, more := madeTypes()
	for _, c := range cs[:comps] {
		p.Component(c)
	}
	for _, s := range ss[:singles] {
		p.Singleton(s)
	}
	for _, l := range append(cs[comps:], more[singles:]...)[:locals] {
		p.LocalComponent(l)
	}
	var k ecs.Prefab
	p.Prefab(&k, "thing", cs[0], cs[1], cs[comps-2], cs[comps-1])
	if also != nil {
		also(p, &k)
	}
	return p
}

// Declarations up to a limit make no error. One more makes an error that names the kind, the number and
// the limit.
func TestTypeLimits(t *testing.T) {
	spawns := func(p *foretick.Protocol, k *ecs.Prefab) { p.Spawns(k, foretick.SpawnConfig{}) }
	for _, row := range []struct {
		comps, singles, locals int
		also                   func(*foretick.Protocol, *ecs.Prefab)
		err                    string
	}{
		{128, 0, 0, nil, ""},
		{127, 0, 0, spawns, ""},
		{128, 126, 0, nil, ""},
		{126, 128, 0, nil, ""},
		{129, 0, 0, nil, "129 replicated components (129 registered): use up to 128"},
		{144, 0, 0, nil, "144 replicated components (144 registered): use up to 128"},
		{128, 0, 0, spawns, "129 replicated components (128 registered, 1 for Spawns): use up to 128"},
		{10, 128, 0, nil, ""},
		{10, 129, 0, nil, "129 singletons: use up to 128"},
		{10, 144, 0, spawns, "144 singletons: use up to 128"},
		{10, 54, 190, nil, ""},
		{10, 54, 191, nil, "more than 255 types (10 components, 54 singletons, 190 local components, 0 command, and the library's own): use fewer"},
		{128, 127, 0, nil, "more than 255 types (128 components, 126 singletons, 0 local components, 0 command, and the library's own): use fewer"},
	} {
		t.Run(fmt.Sprint(row.comps, row.singles, row.locals, row.also != nil), func(t *testing.T) {
			p := crowd(row.comps, row.singles, row.locals, row.also)
			if row.err == "" {
				require.NoError(t, p.Err())
				return
			}
			require.EqualError(t, p.Err(), "foretick: "+row.err+", and merge small ones")
		})
	}
}

// A command that is too long is an error at its declaration, which names the length.
func TestCommandTooLong(t *testing.T) {
	type (
		longest struct{ Keys [256]int32 }
		longer  struct {
			Keys [256]int32
			One  bool
		}
	)
	var fits ecs.Component[longest]
	p := foretick.NewProtocol("long", 1)
	p.Command(&fits)
	require.NoError(t, p.Err())
	var over ecs.Component[longer]
	p = foretick.NewProtocol("long", 1)
	p.Command(&over)
	require.ErrorContains(t, p.Err(), "longer takes 1025 bytes, and at most 1024")
}
