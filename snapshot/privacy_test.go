package snapshot_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
	"github.com/stretchr/testify/require"
)

// twin drives a visible world. Two twins have the same visible world, and other secrets.
type twin struct {
	src    *snapshot.Source
	sender *snapshot.Sender
	bodies []*body
	rng    *rand.Rand // rng draws the secrets.
	ids    snapshot.NetID
	label  map[uint32]snapshot.NetID
	scout  map[uint32]bool
	calm   bool // calm is true if the secrets of an entity at rest do not change either.
	sent   []snapshot.Sent
}

func newTwin(t *testing.T, seed uint64) *twin {
	r, _ := registry(t)
	w := &twin{src: snapshot.NewSource(r, snapshot.SourceConfig{}), rng: rand.New(rand.NewPCG(seed, 9)), ids: 1, label: map[uint32]snapshot.NetID{}, scout: map[uint32]bool{}, sent: make([]snapshot.Sent, 512)}
	w.sender = w.src.NewSender(1, snapshot.SenderConfig{})
	w.sender.SetTeam(1)
	return w
}

// conceal adds hidden entities and changes secrets, as the twin's own luck has it.
func (w *twin) conceal() {
	for range w.rng.IntN(3) {
		b := &body{id: w.ids, kind: 2, owner: 2, mask: 1<<cPrivate | 1<<cIdent | 1<<cPurse}
		w.ids++
		b.ident.ID = 1 << 30
		w.sender.SetVisible(b.id, false)
		w.bodies = append(w.bodies, b)
	}
	for i := 0; i < len(w.bodies); i++ {
		b := w.bodies[i]
		if b.ident.ID == 1<<30 && w.rng.IntN(10) == 0 {
			w.bodies = append(w.bodies[:i], w.bodies[i+1:]...)
			i--
			continue
		}
		if w.calm && b.ident.ID == 77 || w.rng.IntN(3) == 0 {
			continue // secrets change at other times than the twin's
		}
		if b.owner != 1 {
			b.gun.Ammo, b.gun.Secret = uint8(w.rng.IntN(61)), w.rng.Uint64()
			b.private.A, b.purse.Gold = w.rng.Int32(), w.rng.Int64()
			if w.rng.IntN(5) == 0 {
				b.mask ^= 1 << cPurse
			}
		}
		w.mask(b)
		if b.owner != 1 {
			if b.ident.ID == 1<<30 {
				b.purse.Key = entityRef(w.bodies[w.rng.IntN(len(w.bodies))].id)
			} else if h := w.bodies[w.rng.IntN(len(w.bodies))]; h.ident.ID == 1<<30 {
				b.follow.Target = entityRef(h.id) // to something hidden: none
			} else {
				b.follow.Target = 0
			}
		}
	}
	w.rng.Shuffle(len(w.bodies), func(i, j int) { w.bodies[i], w.bodies[j] = w.bodies[j], w.bodies[i] })
}

// mask changes what the viewer does not receive of a body as what he is to it.
func (w *twin) mask(b *body) {
	own, scout := b.owner == 1, w.scout[b.ident.ID]
	ally, enemy := own || b.team == 1, !own && b.team == 2
	s, d, r := &b.squad, &b.dossier, w.rng
	if !ally {
		s.Plan = r.Int32()
	}
	if !enemy {
		s.Bounty, s.Place = uint16(r.IntN(9999)), r.Float32()*16-8
		d.Crimes[r.IntN(2)]++
		if !own && r.IntN(4) == 0 {
			b.mask ^= 1 << cDossier
		}
	} else if r.IntN(3) == 0 {
		d.Alias = r.Uint32()
	}
	if !own && !scout {
		s.Clue, s.Mark = r.Uint64(), entityRef(w.bodies[r.IntN(len(w.bodies))].id)
	}
}

// meet changes the viewer's classes for a body, in both worlds. The viewer may now receive fields that it could
// not, so the body is sent again.
func (w *twin) meet(b *body, dice *rand.Rand) {
	b.team = uint8(dice.IntN(3))
	if b.ident.ID%3 == 0 {
		w.scout[b.ident.ID] = dice.IntN(2) == 0
		w.sender.SetAudience(b.id, scouts, w.scout[b.ident.ID])
	}
	b.squad = squad{Plan: dice.Int32(), Bounty: uint16(dice.IntN(100)), Clue: dice.Uint64(), Place: dice.Float32(), Open: dice.IntN(2) == 0}
	b.dossier = dossier{Crimes: [2]int16{int16(dice.IntN(9)), 1}, Alias: dice.Uint32()}
	if b.mask |= 1 << cSquad; dice.IntN(2) == 0 {
		b.mask |= 1 << cDossier
	} else {
		b.mask &^= 1 << cDossier
	}
}

// public applies one visible change, the same in both worlds.
func (w *twin) public(label uint32, dice *rand.Rand) {
	if _, ok := w.label[label]; !ok {
		b := &body{id: w.ids, owner: uint16(dice.IntN(3)), mask: 1<<cIdent | 1<<cPosition | 1<<cGun | 1<<cFollow}
		if dice.IntN(2) == 0 {
			b.mask |= 1 << cPurse
		}
		w.ids++
		b.ident.ID = label
		w.label[label] = b.id
		w.bodies = append(w.bodies, b)
	}
	for _, b := range w.bodies {
		if b.ident.ID == label {
			if dice.IntN(6) == 0 {
				w.meet(b, dice)
			}
			b.pos.X += dice.Float32()
			b.gun.Kind = int16(dice.IntN(300))
		}
	}
}

func (w *twin) snapshot(t schema.Tick, room int) []byte {
	w.src.Begin(t)
	for _, b := range w.bodies {
		w.src.Put(b.id, b.kind, b.owner, setOf(b.mask), b.pointers(), sameRefs{})
		w.src.SetTeam(b.id, b.team)
	}
	w.src.End()
	if t > 4 {
		if rec := &w.sent[(t-4)%512]; t%3 != 0 {
			w.sender.Delivered(rec)
		} else {
			w.sender.Lost(rec)
		}
	}
	return w.sender.Append(nil, room, &w.sent[t%512])
}

// TestTwoWorlds runs two worlds that differ only in what the viewer may not see:
// hidden entities, other ids, another order, fields for other owners, references to
// what is hidden. The viewer is sent the same bytes.
func TestTwoWorlds(t *testing.T) {
	costtest.Figures(t)
	costtest.Ratio(t)
	differ := 0
	for seed := range uint64(20) {
		a, b := newTwin(t, seed), newTwin(t, seed+1000)
		b.calm = true
		dice := func() *rand.Rand { return rand.New(rand.NewPCG(seed, 5)) }
		da, db := dice(), dice()
		sizes := 0
		for tick := schema.Tick(1); tick < 200; tick++ {
			if tick == 20 || tick == 150 { // the entity then rests for longer than any history
				a.public(77, da)
				b.public(77, db)
			}
			if tick%3 != 0 {
				a.public(uint32(da.IntN(20)), da)
				b.public(uint32(db.IntN(20)), db)
			}
			a.conceal()
			b.conceal()
			room := 60 + int(tick%5)*100
			x, y := a.snapshot(tick, room), b.snapshot(tick, room)
			require.Equal(t, x, y, "seed %d tick %d", seed, tick)
			sizes += len(x)
		}
		require.Greater(t, sizes, 4000)
		if a.ids != b.ids {
			differ++
		}
	}
	require.Greater(t, differ, 15, "the worlds should differ")
}

// TestCanary looks for the bytes of owners' fields in what others receive, at every
// bit position.
func TestCanary(t *testing.T) {
	costtest.Figures(t)
	r, schemas := registry(t)
	w := newWorld(t, 3, r, schemas)
	const canary = 0xfeedc0de0badf00d
	for range 6 {
		b := w.spawn()
		b.owner, b.gun.Secret, b.mask = 2, canary, b.mask|1<<cGun
	}
	find := func(viewer uint16, team uint8, a schema.Audience) (found bool) {
		s := w.source.NewSender(viewer, snapshot.SenderConfig{})
		s.SetTeam(team)
		s.SetAudience(0, a, true)
		var rec snapshot.Sent
		for range 10 {
			w.tick++
			w.source.Begin(w.tick)
			for _, b := range w.bodies {
				for _, v := range []*uint64{&b.gun.Secret, &b.squad.Clue} {
					if *v != 0 {
						*v ^= 1
					}
				}
				if b.squad.Plan != 0 {
					b.squad.Plan ^= 1
				}
				b.pos.X++
				w.source.Put(b.id, b.kind, b.owner, setOf(b.mask), b.pointers(), sameRefs{})
				w.source.SetTeam(b.id, 2)
			}
			w.source.End()
			p := s.Append(nil, 4000, &rec)
			for shift := range 8 {
				q := make([]byte, len(p))
				for i := range p {
					q[i] = p[i] >> shift
					if i+1 < len(p) && shift > 0 {
						q[i] |= p[i+1] << (8 - shift)
					}
				}
				// Differences against the default 0 are coded from the value or near it.
				for d := range uint64(8) {
					for _, z := range []uint32{canary >> 32, uint32(canary&0xffffffff) - uint32(d) + 4} {
						var pat [4]byte
						binary.LittleEndian.PutUint32(pat[:], z)
						found = found || bytes.Contains(q, pat[:3])
						zz := uint32(int32(z)<<1) ^ uint32(int32(z)>>31) - 1
						binary.LittleEndian.PutUint32(pat[:], zz)
						found = found || bytes.Contains(q, pat[:3])
						binary.LittleEndian.PutUint32(pat[:], zz>>3+1)
						found = found || bytes.Contains(q, pat[:3])
					}
				}
			}
		}
		return found
	}
	require.True(t, find(2, 0, 0), "the owner receives it: else this test sees nothing")
	require.False(t, find(1, 2, scouts|guests))
	require.False(t, find(0, 0, 0))
	for _, b := range w.bodies {
		b.gun.Secret, b.squad.Clue, b.mask = 0, canary, b.mask|1<<cSquad|1<<cDossier
	}
	require.True(t, find(1, 0, scouts))
	require.True(t, find(2, 0, 0), "and owners")
	require.False(t, find(1, 2, guests), "but not allies")
	require.False(t, find(1, 1, guests), "nor enemies")
	for _, b := range w.bodies {
		b.squad.Clue, b.squad.Plan = 0, 0x7eedc0de
	}
	require.True(t, find(1, 2, 0), "allies")
	require.False(t, find(1, 1, scouts|guests))
	require.False(t, find(1, 0, scouts|guests))
}
