package ecs_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
)

// TestRecycle has 4096 owners spawn and destroy entities of 32 prefabs, within a tick
// and outside one: 262 144 tables, of which a world holds 65 535.
func TestRecycle(t *testing.T) {
	costtest.Memory(t)
	const owners, prefabs = 4096, 32
	types := ecs.NewTypes()
	var number ecs.Component[int32]
	require.NoError(t, types.Register(&number))
	var marks [5]ecs.Component[uint8] // in each combination
	var kinds [prefabs]ecs.Prefab
	for i := range marks {
		require.NoError(t, types.Register(&marks[i], ecs.Named(fmt.Sprint("mark", i))))
	}
	for k := range kinds {
		with := []ecs.Handle{&number}
		for i := range marks {
			if k>>i&1 != 0 {
				with = append(with, &marks[i])
			}
		}
		require.NoError(t, types.RegisterPrefab(&kinds[k], string(rune('A'+k)), with...))
	}
	all := ecs.NewQuery(types, ecs.Read(&number))
	left := ecs.NewWatch(types, ecs.Read(&number))
	w := ecs.NewWorld(types, ecs.WorldConfig{})
	residents := map[ecs.Entity]int32{}
	for owner := range ecs.Owner(16) {
		e := w.Spawn(&kinds[owner], owner+1)
		*number.Get(w, e) = int32(owner)
		residents[e] = int32(owner)
	}
	_, _ = left.Poll(w)
	for k := range kinds {
		for owner := range ecs.Owner(owners) {
			if owner%2 == 0 {
				ecs.Engine(w).Lock()
			}
			e := w.Spawn(&kinds[k], owner+1)
			*number.Get(w, e) = -1
			if owner%2 == 0 {
				ecs.Engine(w).Unlock()
			}
			require.EqualValues(t, -1, *number.Get(w, e))
			require.Equal(t, owner+1, w.Owner(e))
			if owner%97 == 0 {
				require.Equal(t, len(residents)+1, all.Count(w))
			}
			require.True(t, w.Destroy(e))
		}
		require.Less(t, w.Used(), 0.2)
		for e, n := range residents {
			require.Equal(t, n, *number.Get(w, e))
			rows := all.Owned(w, w.Owner(e))
			require.Len(t, rows, 1)
			require.Equal(t, []ecs.Entity{e}, rows[0].Entities())
		}
		entered, gone := left.Poll(w)
		require.Empty(t, entered)
		require.Empty(t, gone)
	}
	require.Equal(t, len(residents), w.Len())
}

// TestRecycleInATick: a system spawns for thousands of owners while it goes through a
// query, so that tables are recycled under its feet.
func TestRecycleInATick(t *testing.T) {
	types := ecs.NewTypes()
	var a, b ecs.Component[int32]
	require.NoError(t, types.Register(&a))
	require.NoError(t, types.Register(&b, ecs.Named("b")))
	var one, two ecs.Prefab
	require.NoError(t, types.RegisterPrefab(&one, "one", &a))
	require.NoError(t, types.RegisterPrefab(&two, "two", &a, &b))
	q := ecs.NewQuery(types, ecs.Read(&a))
	w := ecs.NewWorld(types, ecs.WorldConfig{})
	for owner := range ecs.Owner(3000) {
		w.Spawn(&one, owner+1)
	}
	for round := range 8 {
		ecs.Engine(w).Lock()
		gone := 0
		for _, rows := range q.All(w) {
			for _, e := range rows.Entities() {
				if w.Owner(e)%2 == 0 {
					gone++
					w.Destroy(e)
				}
				w.Spawn([]*ecs.Prefab{&two, &one}[round%2], w.Owner(e)+ecs.Owner(3000*round))
			}
		}
		before := w.Len()
		ecs.Engine(w).Unlock()
		require.Equal(t, before-gone, w.Len(), "round %d", round)
		require.Equal(t, w.Len(), q.Count(w))
		n := 0
		ecs.Engine(w).Lock()
		for _, rows := range q.All(w) { // few stay
			for _, e := range rows.Entities() {
				if n++; n > 2000 {
					w.Destroy(e)
				}
			}
		}
		ecs.Engine(w).Unlock()
		require.Equal(t, 2000, q.Count(w))
	}
}

// TestHistoryKeepsTables: a history can bring rows back to any table that a save has rows of.
func TestHistoryKeepsTables(t *testing.T) {
	types := ecs.NewTypes()
	var a ecs.Component[int32]
	require.NoError(t, types.Register(&a))
	var k ecs.Prefab
	require.NoError(t, types.RegisterPrefab(&k, "k", &a))
	w := ecs.NewWorld(types, ecs.WorldConfig{})
	e := w.Spawn(&k, 1)
	*a.Get(w, e) = 7
	h := ecs.Engine(w).NewHistory(1)
	h.Save(0)
	w.Destroy(e)
	for owner := range ecs.Owner(10_000) {
		w.Destroy(w.Spawn(&k, owner+2))
		require.Less(t, w.Tables(), 100)
	}
	h.Restore(0)
	require.EqualValues(t, 7, *a.Get(w, e))
}

// TestRecycleWithSaves has 8 owners go through 4096 component sets each, with a save of the
// world or of each owner's part at every step. There are never more than twice the tables
// that the saves and the present have rows in, any save can be restored, and the saves do
// not grow.
func TestRecycleWithSaves(t *testing.T) {
	for name, whole := range map[string]bool{"world": true, "owners": false} {
		t.Run(name, func(t *testing.T) { newSaver(t, whole).run() })
	}
}

const savers, saverSlots = 8, 10

// saver is a world in which each owner has one entity, which goes through component sets.
type saver struct {
	t      *testing.T
	w      *ecs.World
	number ecs.Component[int32]
	name   ecs.Component[Name]
	marks  [12]ecs.Component[uint8]
	bodies [savers]ecs.Entity
	saves  []*ecs.History
}

func newSaver(t *testing.T, whole bool) *saver {
	s := &saver{t: t}
	types := ecs.NewTypes()
	require.NoError(t, types.Register(&s.number))
	require.NoError(t, types.Register(&s.name, ecs.Copier(func(dst, src *Name) { *dst = *src })))
	for i := range s.marks {
		require.NoError(t, types.Register(&s.marks[i], ecs.Named(fmt.Sprint("mark", i))))
	}
	var body ecs.Prefab
	require.NoError(t, types.RegisterPrefab(&body, "body", &s.number, &s.name))
	s.w = ecs.NewWorld(types, ecs.WorldConfig{})
	if whole {
		s.saves = append(s.saves, ecs.Engine(s.w).NewHistory(saverSlots))
	}
	for o := range s.bodies {
		s.bodies[o] = s.w.Spawn(&body, ecs.Owner(o+1))
		if !whole {
			s.saves = append(s.saves, ecs.Engine(s.w).NewOwnerHistory(ecs.Owner(o+1), saverSlots))
		}
	}
	return s
}

// set is the component set of a step.
func (*saver) set(step, mark int) bool { return (step^step>>1)>>mark&1 != 0 }

func (s *saver) step(step int) {
	ecs.Engine(s.w).Lock()
	for o, e := range s.bodies {
		*s.number.Get(s.w, e), *s.name.Get(s.w, e) = int32(step*savers+o), Name{fmt.Sprint(step)}
		for i := range s.marks {
			if has := s.marks[i].Find(s.w, e) != nil; s.set(step, i) && !has {
				s.marks[i].Add(s.w, e, uint8(step))
			} else if !s.set(step, i) && has {
				s.marks[i].Remove(s.w, e)
			}
		}
	}
	ecs.Engine(s.w).Unlock()
	for _, h := range s.saves {
		h.Save(step % saverSlots)
	}
}

func (s *saver) check(step int) {
	for o, e := range s.bodies {
		require.EqualValues(s.t, step*savers+o, *s.number.Get(s.w, e))
		require.Equal(s.t, fmt.Sprint(step), s.name.Get(s.w, e).Text)
		for i := range s.marks {
			require.Equal(s.t, s.set(step, i), s.marks[i].Find(s.w, e) != nil)
		}
	}
}

func (s *saver) words() (n int) {
	for _, h := range s.saves {
		n += h.Words()
	}
	return n
}

func (s *saver) run() {
	most, words := 0, 0
	for step := range 4096 {
		s.step(step)
		most = max(most, s.w.Tables())
		if step == 200 {
			words = s.words()
		}
		if from := step - saverSlots + 1; step > saverSlots && step%97 == 0 {
			for _, h := range s.saves { // as late inputs do: back, and the same steps again
				h.Restore(from % saverSlots)
			}
			s.check(from)
			for again := from + 1; again <= step; again++ {
				s.step(again)
			}
		}
		s.check(step)
	}
	require.LessOrEqual(s.t, most, 2*savers*(saverSlots+1))
	require.LessOrEqual(s.t, s.words(), 2*words)
	s.t.Logf("%d tables at most, of %d; %d words", most, savers*4096, words)
	for _, h := range s.saves {
		h.Release()
	}
	s.w.Recycle()
	require.Equal(s.t, savers, s.w.Tables())
}

// TestRecycleIdle: after most entities went, the tables go without a new one.
func TestRecycleIdle(t *testing.T) {
	g := newGame(t)
	w := ecs.NewWorld(g.types, ecs.WorldConfig{})
	const kept = 6
	h := ecs.Engine(w).NewHistory(kept)
	var es []ecs.Entity
	for o := range ecs.Owner(300) {
		es = append(es, w.Spawn(&g.mover, o+1))
	}
	h.Save(0)
	for _, e := range es[3:] {
		w.Destroy(e)
	}
	for tick := range 3 * kept {
		h.Save(tick % kept)
	}
	require.Equal(t, 3, w.Tables())
	require.Equal(t, 3, w.Len())
}
