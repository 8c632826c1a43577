package foretick_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
)

// made is a type of its own for each pair of digits.
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

// madeRow returns a component and a singleton of each type that begins with a digit.
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

// madeTypes returns 144 components of types of their own, and 144 singletons of others. more
// are components of the types of the singletons.
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

// crowd is a game of many components, singletons and local components. Four are in a prefab.
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

// What is at a limit is declared without an error. One more gets one that names the number by
// kind and the limit.
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
