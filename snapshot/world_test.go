package snapshot_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"unicode/utf8"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// tester is what a *testing.T and a *rapid.T have in common.
type tester interface {
	require.TestingT
	Helper()
}

type ident struct {
	ID uint32
}

type private struct {
	A int32 `net:"owner"`
	B [2]float64
}

type purse struct {
	Gold int64     `net:"owner"`
	Key  entityRef `net:"owner"`
}

type follow struct {
	Target entityRef
	Rope   float32
	On     bool
	Other  [2]entityRef
}

// squad has a field for every audience there is.
type squad struct {
	Plan   int32     `net:"allies"`
	Bounty uint16    `net:"enemies"`
	Clue   uint64    `net:"to=scouts,owner"`
	Mark   entityRef `net:"to=scouts"`
	Place  float32   `net:"min=-8,max=8,step=0.5,to=guests,enemies"`
	Open   bool
}

// dossier is for enemies, all of it but what says otherwise.
type dossier struct {
	Crimes [2]int16
	Alias  uint32 `net:"owner,to=guests"`
}

// bag has strings and slices of all there is.
type bag struct {
	Name  string      `net:"max=11"`
	Notes string      `net:"max=40,owner"`
	Items []thing     `net:"max=6"`
	Path  []float32   `net:"max=5,allies;min=-8,max=8,step=0.25"`
	Seen  []entityRef `net:"max=3"`
	Raw   []uint8     `net:"max=9"`
	Marks [2][]string `net:"max=2;max=5"`
	Full  bool
}

type thing struct {
	ID    uint16
	Label string     `net:"max=7"`
	Turn  [4]float32 `net:"quat,bits=9"`
	At    [2]float32 `net:"vec,min=-16,max=16,step=0.5"`
	Heat  int8       `net:"min=5,max=90"`
	Open  bool
	Count uint32 `net:"owner"`
	For   entityRef
}

const (
	scouts = schema.Audience(8)
	guests = schema.Audience(16)
)

const (
	cIdent = iota
	cPosition
	cGun
	cPrivate
	cPurse
	cFollow
	cTag
	cSquad
	cDossier
	cBag
	components
)

type marker struct{}

// body is one entity of a test's world, with every component.
type body struct {
	id      snapshot.NetID
	kind    int
	owner   uint16
	mask    uint64
	jumps   int // teleports
	told    int // told counts the teleports that were passed to the source.
	ident   ident
	pos     position
	gun     gun
	private private
	purse   purse
	follow  follow
	tag     marker
	squad   squad
	dossier dossier
	bag     bag
	team    uint8
}

func (b *body) pointers() []unsafe.Pointer {
	all := [components]unsafe.Pointer{unsafe.Pointer(&b.ident), unsafe.Pointer(&b.pos), unsafe.Pointer(&b.gun), unsafe.Pointer(&b.private), unsafe.Pointer(&b.purse), unsafe.Pointer(&b.follow), unsafe.Pointer(&b.tag), unsafe.Pointer(&b.squad), unsafe.Pointer(&b.dossier), unsafe.Pointer(&b.bag)}
	var ps []unsafe.Pointer
	for c := range all {
		if b.mask>>c&1 != 0 {
			ps = append(ps, all[c])
		}
	}
	return ps
}

// sameRefs maps the worlds' references to network ids by doing nothing.
type sameRefs struct{}

func (sameRefs) Net(e uint64) uint32    { return uint32(e) }
func (sameRefs) Entity(r uint32) uint64 { return uint64(r) }

func compile[T any](t tester, o schema.Options) *schema.Schema {
	t.Helper()
	o.Ref, o.Audiences = reflect.TypeFor[entityRef](), []string{"scouts", "guests"}
	s, err := schema.Compile(reflect.TypeFor[T](), o)
	require.NoError(t, err)
	return s
}

// registry registers the components above and two prefabs.
func registry(t tester) (*schema.Registry, []*schema.Schema) {
	t.Helper()
	schemas := []*schema.Schema{
		compile[ident](t, schema.Options{}),
		compile[position](t, schema.Options{Predicted: true}),
		compile[gun](t, schema.Options{Predicted: true}),
		compile[private](t, schema.Options{}),
		compile[purse](t, schema.Options{}),
		compile[follow](t, schema.Options{}),
		compile[marker](t, schema.Options{}),
		compile[squad](t, schema.Options{Predicted: true}),
		compile[dossier](t, schema.Options{Audience: schema.ToEnemies}),
		compile[bag](t, schema.Options{Predicted: true}),
	}
	r := schema.NewRegistry()
	for i, s := range schemas {
		c, err := r.Component(s)
		require.NoError(t, err)
		require.Equal(t, i, c)
	}
	_, err := r.Prefab("avatar", []int{cIdent, cPosition, cGun, cFollow}, []unsafe.Pointer{nil, unsafe.Pointer(&position{X: 1}), unsafe.Pointer(&gun{Ammo: 30})})
	require.NoError(t, err)
	_, err = r.Prefab("box", []int{cIdent, cPosition}, nil)
	require.NoError(t, err)
	_, err = r.Prefab("chest", []int{cPrivate, cIdent, cPurse, cBag}, []unsafe.Pointer{nil, nil, nil, unsafe.Pointer(&bag{Name: "box", Raw: []uint8{1, 2}, Items: []thing{{ID: 7, Heat: 9}}})})
	require.NoError(t, err)
	return r, schemas
}

// world is the truth of a test, and the server's side.
type world struct {
	rng       *rand.Rand
	schemas   []*schema.Schema
	bodies    []*body
	nextID    snapshot.NetID
	tick      schema.Tick
	source    *snapshot.Source
	owners    int
	busy      float64 // chance that an entity changes in a tick
	unrelated bool    // no entity refers to another
}

func newWorld(t tester, seed uint64, r *schema.Registry, schemas []*schema.Schema) *world {
	return &world{rng: rand.New(rand.NewPCG(seed, 1)), schemas: schemas, nextID: 1, source: snapshot.NewSource(r, snapshot.SourceConfig{}), owners: 3, busy: 0.5}
}

func (w *world) spawn() *body {
	b := &body{id: w.nextID, kind: w.rng.IntN(3)}
	if w.unrelated {
		b.kind = 1
	}
	w.nextID++
	b.mask = []uint64{1<<cIdent | 1<<cPosition | 1<<cGun | 1<<cFollow, 1<<cIdent | 1<<cPosition, 1<<cPrivate | 1<<cIdent | 1<<cPurse | 1<<cBag}[b.kind]
	b.ident.ID = uint32(b.id)
	if w.rng.IntN(2) == 0 && !w.unrelated {
		b.mask |= 1<<cSquad | 1<<cDossier
	}
	b.team = uint8(w.rng.IntN(3))
	b.owner = uint16(w.rng.IntN(w.owners + 1))
	w.bodies = append(w.bodies, b)
	return b
}

func (w *world) anyRef() entityRef {
	if len(w.bodies) == 0 || w.rng.IntN(4) == 0 {
		return 0
	}
	return entityRef(w.bodies[w.rng.IntN(len(w.bodies))].id)
}

func (w *world) change(b *body) {
	switch r := w.rng; r.IntN(24) {
	case 18, 19:
		w.fill(b)
	case 20:
		b.bag.Name = w.word(14)
		b.bag.Marks[r.IntN(2)] = []string{w.word(4), w.word(9)}[:r.IntN(3)]
	case 21:
		if n := r.IntN(7); n < 6 && n < len(b.bag.Items) { // in place, as games do
			b.bag.Items[n].Count++
			b.bag.Items[n].At[0] += 0.5
			b.bag.Items[n].Turn = [4]float32{r.Float32(), r.Float32(), r.Float32(), 1}
		}
	case 22:
		b.bag.Raw = append(b.bag.Raw, uint8(r.IntN(256)))
		if r.IntN(8) == 0 {
			b.bag.Raw = b.bag.Raw[:r.IntN(len(b.bag.Raw))]
		}
	case 23:
		b.bag.Notes += w.word(5)
		if len(b.bag.Path) > 4 {
			b.bag.Path = nil
		}
		b.bag.Path = append(b.bag.Path, r.Float32()*20-10)
	case 14:
		b.squad.Plan, b.squad.Open = r.Int32(), r.IntN(2) == 0
	case 15:
		b.squad.Bounty, b.squad.Clue = uint16(r.IntN(1000)), r.Uint64()
		b.squad.Place += r.Float32()/8 - 1./16
	case 16:
		b.squad.Mark = w.anyRef()
		b.dossier.Crimes[r.IntN(2)]++
	case 17:
		if b.dossier.Alias++; r.IntN(6) == 0 {
			b.team = uint8(r.IntN(3))
		}
	case 0, 1, 2, 3:
		b.pos.X += r.Float32() - 0.5
		b.pos.Y += r.Float32() * 0.01
	case 4:
		b.pos.Aim += r.Float32()
	case 5:
		b.gun.Ammo = uint8(r.IntN(100))
	case 6:
		b.gun.Secret = r.Uint64()
	case 7:
		b.gun.Kind = int16(r.IntN(1000) - 500)
	case 8:
		b.private.A = r.Int32()
		b.private.B[1] = r.NormFloat64()
	case 9:
		b.purse.Gold = r.Int64() - 1<<62
		b.purse.Key = w.anyRef()
	case 10:
		b.follow.Target = w.anyRef()
		b.follow.Rope = r.Float32()*100 - 50
	case 11:
		b.follow.Other[r.IntN(2)] = w.anyRef()
		b.follow.On = !b.follow.On
	case 12:
		if r.IntN(4) == 0 {
			b.owner = uint16(r.IntN(w.owners + 1))
		}
	case 13:
		if r.IntN(3) == 0 {
			b.jumps++
		}
		if r.IntN(3) == 0 {
			if at := uint64(1) << (1 + r.IntN(components-1)); !w.unrelated {
				b.mask ^= at
			}
		}
	}
}

// word is some text, of more than one alphabet and not always sound.
func (w *world) word(most int) string {
	letters := []rune("abcdefgh jkABC0123äß√世𝄞")
	var b []byte
	for range w.rng.IntN(most + 1) {
		b = utf8.AppendRune(b, letters[w.rng.IntN(len(letters))])
	}
	if w.rng.IntN(9) == 0 {
		b = append(b, 0xff)
	}
	return string(b)
}

// fill adds to a bag, or takes out of it.
func (w *world) fill(b *body) {
	r := w.rng
	if n := len(b.bag.Items); n > 0 && r.IntN(2) == 0 {
		b.bag.Items = slices.Delete(b.bag.Items, n-1-r.IntN(min(n, 2)), n)
	} else {
		b.bag.Items = append(b.bag.Items, thing{ID: uint16(r.IntN(9)), Label: w.word(6), Heat: int8(r.IntN(128)), Open: r.IntN(2) == 0, For: w.anyRef(), Turn: [4]float32{0, r.Float32(), 0, 1}})
	}
	b.bag.Seen = append(b.bag.Seen[:r.IntN(len(b.bag.Seen)+1)], w.anyRef())
	b.bag.Full = len(b.bag.Items) > 5
}

// step changes the world at random and gives it to the source.
func (w *world) step(calm bool) {
	w.tick++
	if !calm {
		if w.rng.IntN(4) == 0 && len(w.bodies) < 24 {
			w.spawn()
		}
		if w.rng.IntN(9) == 0 && len(w.bodies) > 0 {
			i := w.rng.IntN(len(w.bodies))
			w.bodies = slices.Delete(w.bodies, i, i+1)
		}
		for _, b := range w.bodies {
			if w.rng.Float64() < w.busy {
				w.change(b)
			}
		}
	}
	w.source.Begin(w.tick)
	for _, i := range w.rng.Perm(len(w.bodies)) {
		b := w.bodies[i]
		for ; b.told < b.jumps; b.told++ {
			w.source.Teleport(b.id)
		}
		w.source.Put(b.id, b.kind, b.owner, setOf(b.mask), b.pointers(), sameRefs{})
		w.source.SetTeam(b.id, b.team)
	}
	w.source.End()
}

// truth is what a viewer may know of an entity: words with references left as
// network ids, and fields for owners 0 for others.
type truth struct {
	kind  int
	owner uint16
	mask  uint64
	jumps int
	aud   schema.Audience
	words map[int][]int32
}

func (w *world) truths(viewer uint16, visible func(snapshot.NetID) bool, relation func(*body) schema.Audience) map[snapshot.NetID]truth {
	out := map[snapshot.NetID]truth{}
	for _, b := range w.bodies {
		if !visible(b.id) {
			continue
		}
		mine, rel := viewer != 0 && b.owner == viewer, relation(b)
		tr := truth{aud: rel, kind: b.kind, owner: b.owner, jumps: b.jumps, words: map[int][]int32{}}
		ps := b.pointers()
		for c, s := range w.schemas {
			if b.mask>>c&1 == 0 {
				continue
			}
			p := ps[0]
			ps = ps[1:]
			grid := schema.GridPublic
			if mine {
				grid = schema.GridSim
			}
			words := make([]int32, s.Words())
			s.Quantise(p, grid, sameRefs{}, words)
			secret := true
			for _, f := range s.Fields() {
				if f.Audience != 0 && f.Audience&rel == 0 {
					clear(words[f.Word : f.Word+f.Words])
				} else {
					secret = false
				}
			}
			if secret && len(s.Fields()) > 0 {
				continue
			}
			tr.mask |= 1 << c
			tr.words[c] = words
		}
		out[b.id] = tr
	}
	return out
}

// viewer is one client with its lossy link.
type viewer struct {
	t        tester
	w        *world
	owner    uint16
	sender   *snapshot.Sender
	recv     *snapshot.Receiver
	hidden   map[snapshot.NetID]bool
	known    map[schema.Tick]map[snapshot.NetID]truth
	received []schema.Tick
	flight   []*flight
	room     func() int
	compared int
	partial  int
	grown    int
	packets  func([]byte)
	team     uint8
	scout    map[snapshot.NetID]bool // as whose the viewer is one
	guest    bool
	jumps    map[life]uint16 // teleports before the viewer was shown the entity
}

// life is one showing of an entity.
type life struct {
	wire schema.WireID
	born schema.Tick
}

type flight struct {
	data []byte
	rec  snapshot.Sent
	due  []int // arrivals, in ticks from now; empty: lost
	ack  int   // ticks after the first arrival; −1: lost
	tick schema.Tick
	told bool
}

func newViewer(t tester, w *world, r *schema.Registry, owner uint16) *viewer {
	v := &viewer{t: t, w: w, owner: owner, recv: snapshot.NewReceiver(r, snapshot.ReceiverConfig{}), hidden: map[snapshot.NetID]bool{}, known: map[schema.Tick]map[snapshot.NetID]truth{}, jumps: map[life]uint16{}, scout: map[snapshot.NetID]bool{}}
	v.sender = w.source.NewSender(owner, snapshot.SenderConfig{})
	v.room = func() int { return 1100 }
	return v
}

func (v *viewer) visible(id snapshot.NetID) bool { return !v.hidden[id] }

// relation is what the viewer is to a body.
func (v *viewer) relation(b *body) (a schema.Audience) {
	switch {
	case v.owner != 0 && b.owner == v.owner:
		a = schema.ToOwner | schema.ToAllies
	case b.team != 0 && b.team == v.team:
		a = schema.ToAllies
	case b.team != 0 && v.team != 0:
		a = schema.ToEnemies
	}
	if v.scout[b.id] {
		a |= scouts
	}
	if v.guest {
		a |= guests
	}
	return a
}

func (v *viewer) toggle() {
	if len(v.w.bodies) == 0 {
		return
	}
	switch v.w.rng.IntN(8) {
	case 0:
		v.team = uint8(v.w.rng.IntN(3))
		v.sender.SetTeam(v.team)
	case 1:
		v.guest = !v.guest
		v.sender.SetAudience(0, guests, v.guest)
	case 2, 3:
		id := max(v.w.nextID, 6) - snapshot.NetID(v.w.rng.IntN(6)) // one that is not made yet, perhaps
		v.scout[id] = !v.scout[id]
		v.sender.SetAudience(id, scouts, v.scout[id])
	}
	id := v.w.bodies[v.w.rng.IntN(len(v.w.bodies))].id
	v.hidden[id] = !v.hidden[id]
	v.sender.SetVisible(id, !v.hidden[id])
}

// send appends a snapshot of the world's tick and puts it on the link.
func (v *viewer) send(fault float64) {
	r := v.w.rng
	room := v.room()
	f := &flight{tick: v.w.tick}
	prefix := []byte("head")
	data := v.sender.Append(prefix, room, &f.rec)
	require.LessOrEqual(v.t, len(data)-len(prefix), room)
	require.Equal(v.t, "head", string(data[:4]))
	f.data = data[4:]
	v.grown += len(f.data)
	if v.packets != nil {
		v.packets(f.data)
	}
	v.known[v.w.tick] = v.w.truths(v.owner, v.visible, v.relation)
	if r.Float64() >= fault {
		f.due = append(f.due, 1+r.IntN(4)+r.IntN(1+int(fault*30)))
		if r.Float64() < fault/3 {
			f.due = append(f.due, f.due[0]+r.IntN(8))
		}
	}
	f.ack = 2 + r.IntN(3)
	if r.Float64() < fault {
		f.ack = -1
	}
	if len(f.data) > 0 {
		v.flight = append(v.flight, f)
	}
}

// pump lets a tick pass on the link.
func (v *viewer) pump() {
	keep := v.flight[:0]
	for _, f := range v.flight {
		arrived := false
		for i := 0; i < len(f.due); {
			if f.due[i]--; f.due[i] <= 0 {
				v.read(f)
				arrived = true
				f.due = slices.Delete(f.due, i, i+1)
			} else {
				i++
			}
		}
		_ = arrived
		if !f.told && f.ack > 0 && slices.Contains(v.received, f.tick) {
			if f.ack--; f.ack == 0 {
				v.sender.Delivered(&f.rec)
				f.told = true
			}
		}
		if v.w.tick-f.tick > 25 && !f.told {
			v.sender.Lost(&f.rec)
			f.told = true
		}
		if len(f.due) > 0 || !f.told {
			keep = append(keep, f)
		}
	}
	v.flight = keep
}

func (v *viewer) read(f *flight) {
	t, err := v.recv.Read(f.data)
	require.NoError(v.t, err)
	require.Equal(v.t, f.tick, t)
	v.received = append(v.received, t)
	newest, ok := v.recv.Newest()
	require.True(v.t, ok)
	for _, old := range v.received[max(0, len(v.received)-8):] {
		if newest-old < 60 {
			v.check(old)
		}
	}
	for _, g := range slices.Clone(v.recv.Ghosts()) {
		if g.Gone != 0 && newest > g.Gone+30 {
			v.recv.Release(g)
		}
	}
}

// check compares everything that the receiver knows of a tick with the truth.
func (v *viewer) check(t schema.Tick) {
	seen := map[snapshot.NetID]bool{}
	want := v.known[t]
	for _, g := range v.recv.Ghosts() {
		s, ok := g.At(t)
		if !ok {
			continue
		}
		id := snapshot.NetID(s.Component(cIdent)[0])
		tr, there := want[id]
		type key struct {
			there, seen bool
			kind        int
			owner       uint16
			mine        bool
			mask        uint64
			aud         schema.Audience
		}
		a := key{true, false, tr.kind, tr.owner, v.owner != 0 && tr.owner == v.owner, tr.mask, tr.aud}
		if b := (key{there, seen[id], g.Prefab, s.Owner, s.Mine, s.Mask.Part(0), s.Audience}); a != b {
			require.Equal(v.t, a, b, "tick %d: entity %d", t, id)
		}
		seen[id] = true
		before := uint16(tr.jumps) - s.Jumps
		if was, ok := v.jumps[life{g.Wire, g.Born}]; ok && was != before {
			require.Equal(v.t, was, before, "tick %d: entity %d: teleports", t, id)
		}
		v.jumps[life{g.Wire, g.Born}] = before
		for c := range components {
			v.compare(t, id, c, tr.words[c], s.Component(c))
		}
	}
	if _, all, _ := v.recv.Complete(t); all {
		if newest, _ := v.recv.Newest(); newest-t < 25 { // later, ghosts are released
			now := v.known[newest]
			for id := range want {
				if _, still := now[id]; still && v.bornBy(id, t) {
					require.True(v.t, seen[id], "tick %d lacks entity %d", t, id)
				}
			}
		}
	} else {
		v.partial++
	}
}

// bornBy reports whether an entity's living ghost was born by a tick. Its ghost of a former showing may have
// been removed before it was ever received.
func (v *viewer) bornBy(id snapshot.NetID, t schema.Tick) bool {
	for _, g := range v.recv.Ghosts() {
		if g.Gone == 0 && g.Newest().Component(cIdent)[0] == int32(id) {
			return g.Born <= t
		}
	}
	return false
}

func (v *viewer) compare(t schema.Tick, id snapshot.NetID, c int, want, got []int32) {
	if len(got) != len(want) {
		require.Len(v.t, got, len(want))
	}
	for _, f := range v.w.schemas[c].Fields() {
		if want == nil {
			return
		}
		v.compared++
		a, b := want[f.Word], got[f.Word]
		if !f.Ref && slices.Equal(want[f.Word:f.Word+f.Words], got[f.Word:f.Word+f.Words]) {
			continue
		}
		if !f.Ref {
			require.Equal(v.t, want[f.Word:f.Word+f.Words], got[f.Word:f.Word+f.Words], "tick %d entity %d component %d field %s", t, id, c, f.Name)
			continue
		}
		if b == 0 {
			continue // not known yet, or none
		}
		if a == 0 {
			require.NotZero(v.t, a)
		}
		for _, g := range v.recv.Ghosts() {
			if g.Wire == schema.WireID(b) && t >= g.Born && (g.Gone == 0 || t < g.Gone) && g.Newest().Component(cIdent)[0] != a {
				require.Equal(v.t, a, g.Newest().Component(cIdent)[0], "tick %d entity %d refers to the wrong ghost", t, id)
			}
		}
	}
}

func (v *viewer) settle(ticks int) {
	for range ticks {
		v.w.step(true)
		v.send(0)
		v.pump()
	}
}

// settled checks, with nothing changing any more, that nothing is left to send,
// that both ends hash alike, and that every reference arrived.
func (v *viewer) settled() {
	last := v.received[len(v.received)-1]
	a, n := v.recv.Hash(last)
	b, m := v.sender.Hash()
	require.Equal(v.t, m, n)
	require.Equal(v.t, b, a)
	require.Equal(v.t, len(v.known[last]) > 0, n > 0)
	for _, g := range v.recv.Ghosts() {
		if g.Gone != 0 {
			continue
		}
		s := g.Newest()
		tr := v.known[last][snapshot.NetID(s.Component(cIdent)[0])]
		for c := range components {
			for _, f := range v.w.schemas[c].Fields() {
				if !f.Ref || tr.words[c] == nil {
					continue
				}
				target := snapshot.NetID(tr.words[c][f.Word])
				_, there := v.known[last][target]
				require.Equal(v.t, target != 0 && there, s.Component(c)[f.Word] != 0, fmt.Sprint("entity ", s.Component(cIdent)[0], " field ", f.Name, " target ", target))
			}
		}
	}
}
