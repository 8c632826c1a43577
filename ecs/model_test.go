package ecs_test

import (
	"maps"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/foretick/foretick/ecs"
)

// thing is the model of an entity.
type thing struct {
	owner  ecs.Owner
	comps  map[ecs.ID]float32
	parent ecs.Entity
}

func (t thing) clone() thing {
	t.comps = maps.Clone(t.comps)
	return t
}

type things map[ecs.Entity]thing

func (ts things) clone() things {
	out := things{}
	for e, t := range ts {
		out[e] = t.clone()
	}
	return out
}

// model is a map of maps that does what a world should.
type model struct {
	t       *rapid.T
	g       *game
	w       *ecs.World
	all     *ecs.Query
	live    things
	locked  bool
	later   []func()
	doomed  map[ecs.Entity]bool // destroyed since the lock
	worlds  *ecs.History
	saves   [3]*worldSave
	owned   map[ecs.Owner]*ecs.History
	parts   map[ecs.Owner]*[3]*worldSave
	handles []ecs.Entity // all ever seen, for stale ones
	seen    seenBy       // by the watch that is polled for all owners
	seenOf  seenBy       // by the one that is polled owner by owner
	moved   int          // transfers, placements and world restores: these may make owner saves void
}

// seenBy is what a watch has delivered.
type seenBy map[ecs.Owner]map[ecs.Entity]bool

func (s seenBy) clone() seenBy {
	out := seenBy{}
	for o, seen := range s {
		out[o] = maps.Clone(seen)
	}
	return out
}

func (s seenBy) union() map[ecs.Entity]bool {
	out := map[ecs.Entity]bool{}
	for _, seen := range s {
		maps.Copy(out, seen)
	}
	return out
}

type worldSave struct {
	seen   seenBy
	seenOf seenBy
	live   things
	rows   []ecs.Entity
	score  int64
	moved  int
}

func newModel(t *rapid.T, g *game) *model {
	m := &model{t: t, g: g, live: things{}, owned: map[ecs.Owner]*ecs.History{}, parts: map[ecs.Owner]*[3]*worldSave{}}
	m.w = ecs.NewWorld(g.types, ecs.WorldConfig{Capacity: 1})
	m.all = ecs.NewQuery(g.types)
	m.worlds = ecs.Engine(m.w).NewHistory(3)
	m.seen, m.seenOf = seenBy{}, seenBy{}
	for _, o := range owners {
		m.seenOf[o] = map[ecs.Entity]bool{}
		m.owned[o] = ecs.Engine(m.w).NewOwnerHistory(o, 3)
		m.parts[o] = new([3]*worldSave)
	}
	return m
}

var owners = []ecs.Owner{ecs.Nobody, 1, 2, ecs.Common}

func (m *model) owner() ecs.Owner { return rapid.SampledFrom(owners).Draw(m.t, "owner") }

func (m *model) pick() (ecs.Entity, bool) {
	if len(m.handles) == 0 {
		return ecs.None, false
	}
	e := rapid.SampledFrom(m.handles).Draw(m.t, "entity")
	_, ok := m.live[e]
	return e, ok
}

// do applies a structural change now, or at the unlock.
func (m *model) do(f func()) {
	if m.locked {
		m.later = append(m.later, f)
		return
	}
	f()
}

func (m *model) born(e ecs.Entity, k *ecs.Prefab, o ecs.Owner) {
	th := thing{owner: o, comps: map[ecs.ID]float32{}}
	for _, id := range k.Components() {
		th.comps[id] = 0
		if k == &m.g.person && id == m.g.hp.ID() {
			th.comps[id] = 100
		}
	}
	require.NotContains(m.t, m.live, e)
	m.live[e] = th
	m.handles = append(m.handles, e)
}

func (m *model) spawn(t *rapid.T) {
	k := rapid.SampledFrom([]*ecs.Prefab{&m.g.mover, &m.g.rock, &m.g.person, &m.g.empty}).Draw(t, "prefab")
	o := m.owner()
	r := ecs.Range(rapid.IntRange(0, 2).Draw(t, "range"))
	if n := rapid.IntRange(1, 5).Draw(t, "how many"); n > 1 {
		es := make([]ecs.Entity, n)
		rows := ecs.Engine(m.w).SpawnBatchIn(r, k, o, es)
		require.Equal(t, es, rows.Entities())
		for _, e := range es {
			m.born(e, k, o)
		}
		return
	}
	m.born(ecs.Engine(m.w).SpawnIn(r, k, o), k, o)
}

func (m *model) place(t *rapid.T) {
	e := ecs.MakeEntity(rapid.Uint32Range(0, 300).Draw(t, "index"), rapid.Uint32Range(1, 3).Draw(t, "generation"))
	o := m.owner()
	err := ecs.Engine(m.w).Place(e, &m.g.rock, o)
	for have := range m.live {
		if have.Index()<<2 == e.Index()<<2 {
			require.ErrorIs(t, err, ecs.ErrOccupied)
		}
	}
	if err == nil {
		m.born(e, &m.g.rock, o)
		m.moved++
	}
}

func (m *model) destroy(t *rapid.T) {
	e, ok := m.pick()
	ok = ok && !m.doomed[e]
	require.Equal(t, ok, m.w.Destroy(e))
	if !ok { // a stale handle may come to life again before the flush
		return
	}
	if m.locked {
		m.doomed[e] = true
	}
	m.do(func() { m.kill(e) })
}

func (m *model) kill(e ecs.Entity) {
	if _, ok := m.live[e]; !ok {
		return
	}
	delete(m.live, e)
	for c, th := range m.live {
		if th.parent == e {
			m.kill(c)
		}
	}
}

func (m *model) add(t *rapid.T) {
	e, ok := m.pick()
	v := float32(rapid.IntRange(1, 1000).Draw(t, "value"))
	id := ecs.ID(rapid.IntRange(0, 4).Draw(t, "component"))
	switch id {
	case m.g.pos.ID():
		m.g.pos.Add(m.w, e, Position{X: v})
	case m.g.vel.ID():
		m.g.vel.Add(m.w, e, Velocity{W: v})
	case m.g.hp.ID():
		m.g.hp.Add(m.w, e, Health{int16(v)})
	case m.g.dead.ID():
		m.g.dead.Add(m.w, e, Dead{})
		v = 0
	default:
		m.g.name.Add(m.w, e, Name{string(rune(int(v) + 'a'))})
	}
	if !ok {
		return
	}
	m.do(func() {
		if th, ok := m.live[e]; ok {
			th.comps[id] = v
		}
	})
}

func (m *model) remove(t *rapid.T) {
	e, ok := m.pick()
	id := ecs.ID(rapid.IntRange(0, 4).Draw(t, "component"))
	ecs.Engine(m.w).RemoveByID(e, id)
	if !ok {
		return
	}
	m.do(func() {
		if th, ok := m.live[e]; ok {
			delete(th.comps, id)
		}
	})
}

func (m *model) set(t *rapid.T) {
	e, ok := m.pick()
	p := m.g.pos.Find(m.w, e)
	if !ok {
		require.Nil(t, p)
		return
	}
	if p != nil && !m.locked {
		p.X = float32(rapid.IntRange(1, 1000).Draw(t, "value"))
		m.live[e].comps[m.g.pos.ID()] = p.X
	}
	*m.g.score.Get(m.w) += 1
}

func (m *model) transfer(t *rapid.T) {
	e, ok := m.pick()
	o := m.owner()
	err := m.w.Transfer(e, o)
	require.Equal(t, ok, err == nil)
	if !ok {
		return
	}
	m.do(func() {
		if th, ok := m.live[e]; ok {
			th.owner = o
			m.live[e] = th
			m.moved++
		}
	})
}

func (m *model) parent(t *rapid.T) {
	c, ok := m.pick()
	p, okp := m.pick()
	if rapid.IntRange(0, 3).Draw(t, "orphan") == 0 {
		p, okp = ecs.None, true
	}
	err := m.w.SetParent(c, p)
	if !ok || !okp {
		require.ErrorIs(t, err, ecs.ErrStale)
		return
	}
	if p != ecs.None && m.below(p, c) {
		require.ErrorIs(t, err, ecs.ErrCycle)
		return
	}
	require.NoError(t, err)
	m.do(func() {
		th, ok := m.live[c]
		_, okp := m.live[p]
		if ok && (p == ecs.None || okp && !m.below(p, c)) {
			th.parent = p
			m.live[c] = th
		}
	})
}

func (m *model) below(e, top ecs.Entity) bool {
	for {
		th, ok := m.live[e]
		if !ok {
			return false
		}
		if e == top {
			return true
		}
		e = th.parent
	}
}

func (m *model) lock(*rapid.T) {
	if !m.locked {
		ecs.Engine(m.w).Lock()
		m.locked, m.doomed = true, map[ecs.Entity]bool{}
	}
}

func (m *model) unlock(*rapid.T) {
	if !m.locked {
		return
	}
	ecs.Engine(m.w).Unlock()
	m.locked, m.doomed = false, nil
	for _, f := range m.later {
		f()
	}
	m.later = nil
}

func (m *model) rows() []ecs.Entity {
	var es []ecs.Entity
	for _, r := range m.all.All(m.w) {
		es = append(es, r.Entities()...)
	}
	return es
}

func (m *model) rowsOf(o ecs.Owner) []ecs.Entity {
	var es []ecs.Entity
	for _, r := range m.all.Owned(m.w, o) {
		es = append(es, r.Entities()...)
	}
	return es
}

func (m *model) save(t *rapid.T) {
	if m.locked {
		require.Panics(t, func() { m.worlds.Save(0) })
		return
	}
	i := rapid.IntRange(0, 2).Draw(t, "slot")
	m.worlds.Save(i)
	m.saves[i] = &worldSave{seen: m.seen.clone(), seenOf: m.seenOf.clone(), live: m.live.clone(), rows: m.rows(), score: *m.g.score.Get(m.w)}
}

func (m *model) restore(t *rapid.T) {
	i := rapid.IntRange(0, 2).Draw(t, "slot")
	s := m.saves[i]
	if s == nil || m.locked {
		require.Panics(t, func() { m.worlds.Restore(i) })
		return
	}
	m.worlds.Restore(i)
	m.live = s.live.clone()
	m.seen, m.seenOf = s.seen.clone(), s.seenOf.clone()
	m.moved++
	require.Equal(t, s.rows, m.rows())
	require.Equal(t, s.score, *m.g.score.Get(m.w))
}

func (m *model) saveOwner(t *rapid.T) {
	if m.locked {
		return
	}
	o, i := m.owner(), rapid.IntRange(0, 2).Draw(t, "slot")
	m.owned[o].Save(i)
	s := &worldSave{live: things{}, rows: m.rowsOf(o), moved: m.moved}
	s.seen, s.seenOf = m.seen.clone(), m.seenOf.clone()
	for e, th := range m.live {
		if th.owner == o {
			s.live[e] = th.clone()
		}
	}
	m.parts[o][i] = s
}

func (m *model) restoreOwner(t *rapid.T) {
	o, i := m.owner(), rapid.IntRange(0, 2).Draw(t, "slot")
	s, h := m.parts[o][i], m.owned[o]
	if s == nil || m.locked {
		return
	}
	if s.moved == m.moved {
		require.True(t, h.Holds(i), "void without a cause")
	}
	if !h.Holds(i) {
		require.Panics(t, func() { h.Restore(i) })
		return
	}
	others := map[ecs.Owner][]ecs.Entity{}
	for _, p := range owners {
		others[p] = m.rowsOf(p)
	}
	h.Restore(i)
	for e, th := range m.live {
		if th.owner == o {
			delete(m.live, e)
		}
	}
	for e, th := range s.live {
		require.NotContains(t, m.live, e)
		m.live[e] = th.clone()
	}
	for e, th := range m.live {
		if _, ok := m.live[th.parent]; !ok {
			th.parent = ecs.None
			m.live[e] = th
		}
	}
	m.seen[o], m.seenOf[o] = maps.Clone(s.seen[o]), maps.Clone(s.seenOf[o])
	others[o] = s.rows
	for _, p := range owners {
		require.Equal(t, others[p], m.rowsOf(p))
	}
}

// recycle gives up tables, which nothing may notice.
func (m *model) recycle(*rapid.T) { m.w.Recycle() }

// release forgets the saves of a history.
func (m *model) release(t *rapid.T) {
	o := m.owner()
	if rapid.Bool().Draw(t, "the world's") {
		m.worlds.Release()
		m.saves = [3]*worldSave{}
		return
	}
	m.owned[o].Release()
	*m.parts[o] = [3]*worldSave{}
}

// diff compares the world's positions with those of a save.
func (m *model) diff(t *rapid.T) {
	i := rapid.IntRange(0, 2).Draw(t, "slot")
	s, pos := m.saves[i], m.g.pos.ID()
	if s == nil || m.locked {
		return
	}
	want, got := map[ecs.Entity]bool{}, map[ecs.Entity]bool{}
	for e, th := range m.live {
		now, ok := th.comps[pos]
		if was, saved := s.live[e].comps[pos]; ok && (!saved || was != now) {
			want[e] = true
		}
	}
	m.worlds.Diff(i, pos, func(r ecs.Rows, i int, _ unsafe.Pointer) { got[r.Entity(i)] = true })
	require.Equal(t, want, got)
}

// poll polls both watches and compares them with the model.
func (m *model) poll(t *rapid.T) {
	if m.locked {
		return
	}
	now, o := seenBy{}, m.owner()
	for _, o := range owners {
		now[o] = map[ecs.Entity]bool{}
	}
	for e, th := range m.live {
		_, pos := th.comps[m.g.pos.ID()]
		if _, dead := th.comps[m.g.dead.ID()]; pos && !dead {
			now[th.owner][e] = true
		}
	}
	in, out := m.g.anyWatch.Poll(m.w)
	compareSets(t, now.union(), m.seen.union(), in, out)
	m.seen = now.clone()
	in, out = m.g.ownWatch.PollOwner(m.w, o)
	compareSets(t, now[o], m.seenOf[o], in, out)
	m.seenOf[o] = now[o]
}

func compareSets(t *rapid.T, now, seen map[ecs.Entity]bool, in, out []ecs.Entity) {
	want := 0
	for e := range now {
		if !seen[e] {
			want++
			require.Contains(t, in, e)
		}
	}
	require.Len(t, in, want)
	want = 0
	for e := range seen {
		if !now[e] {
			want++
			require.Contains(t, out, e)
		}
	}
	require.Len(t, out, want)
}

func (m *model) check(t *rapid.T) {
	if m.locked {
		return
	}
	require.Equal(t, len(m.live), m.w.Len())
	rows := m.rows()
	require.Len(t, rows, len(m.live))
	byOwner := 0
	for _, o := range owners {
		byOwner += len(m.rowsOf(o))
	}
	require.Equal(t, len(m.live), byOwner)
	for _, e := range m.handles {
		_, ok := m.live[e]
		require.Equal(t, ok, m.w.Alive(e), "%v", e)
	}
	for _, e := range rows {
		m.checkOne(t, e)
	}
}

func (m *model) checkOne(t *rapid.T, e ecs.Entity) {
	th, ok := m.live[e]
	require.True(t, ok, "%v lives", e)
	require.Equal(t, th.owner, m.w.Owner(e))
	for id := ecs.ID(0); id < 5; id++ {
		v, ok := th.comps[id]
		require.Equal(t, ok, ecs.Engine(m.w).Mask(e).Has(id), "%v component %d", e, id)
		require.Equal(t, ok, ecs.Engine(m.w).Pointer(e, id) != nil)
		if !ok {
			continue
		}
		switch id {
		case m.g.pos.ID():
			require.Equal(t, v, m.g.pos.Get(m.w, e).X)
			require.Equal(t, v, m.g.pos.View(m.w).Get(e).X)
		case m.g.vel.ID():
			require.Equal(t, v, m.g.vel.Get(m.w, e).W)
		case m.g.hp.ID():
			require.Equal(t, int16(v), m.g.hp.Get(m.w, e).Points)
		case m.g.name.ID():
			if v != 0 {
				require.Equal(t, string(rune(int(v)+'a')), m.g.name.Get(m.w, e).Text)
			}
		}
	}
	parent := th.parent
	if _, ok := m.live[parent]; !ok {
		parent = ecs.None
	}
	require.Equal(t, parent, m.w.Parent(e))
	var kids []ecs.Entity
	for c, other := range m.live {
		if other.parent == e {
			kids = append(kids, c)
		}
	}
	got := slices.Clone(m.w.Children(e))
	slices.Sort(kids)
	slices.Sort(got)
	require.Equal(t, len(kids), len(got))
	if len(kids) > 0 {
		require.Equal(t, kids, got)
	}
}

// TestWorldAgainstModel runs random operations against a map of maps: spawn,
// place, destroy, add, remove, transfer, hierarchy, deferred commands, and
// saves and restores of the world and of single owners, while tables are recycled.
func TestWorldAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(t, newGame(&testing.T{}))
		t.Repeat(map[string]func(*rapid.T){
			"spawn": m.spawn, "spawn again": m.spawn, "place": m.place, "destroy": m.destroy,
			"add": m.add, "remove": m.remove, "set": m.set, "transfer": m.transfer,
			"parent": m.parent, "poll": m.poll, "lock": m.lock, "unlock": m.unlock,
			"save": m.save, "restore": m.restore, "save owner": m.saveOwner, "restore owner": m.restoreOwner,
			"diff": m.diff, "recycle": m.recycle, "release": m.release,
			"": m.check,
		})
	})
}
