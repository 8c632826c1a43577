package snapshot_test

import (
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite golden files")

// builtinTables are the tables that hold where none were learned.
func builtinTables() []byte {
	b, err := os.ReadFile("../internal/coder/learned.bin")
	if err != nil {
		panic(err)
	}
	return b
}

// story is a short match that shows every kind of item.
func story(t *testing.T) *play {
	p := newPlay(t, 1)
	a, b := p.add(1, 1), p.add(2, 2)
	a.gun = gun{Ammo: 12, Secret: 1 << 40}
	a.follow.Target = 2
	c := &body{id: 3, kind: 2, mask: 1<<cIdent | 1<<cPrivate | 1<<cPurse}
	c.private = private{A: 5, B: [2]float64{1.5, -2}}
	for i := range 14 {
		a.pos.X += 0.25
		a.pos.Y -= float32(i) * 0.125
		b.pos.X = float32(i*i) * 0.5
		b.pos.Aim += 0.25
		b.follow.Rope = float32(i) / 4
		switch i {
		case 3:
			p.bodies[3] = c
		case 5:
			p.sender.SetVisible(2, false)
		case 8:
			delete(p.bodies, 3)
			p.sender.SetVisible(2, true)
		case 4, 9, 12:
			p.src.Teleport(1)
			a.pos.X = -a.pos.X - 20
		case 10:
			a.mask |= 1<<cTag | 1<<cPurse
			a.purse.Gold = -3
			b.owner = 1
		case 11:
			b.mask |= 1<<cSquad | 1<<cDossier
			b.squad = squad{Plan: -5, Bounty: 99, Clue: 1 << 33, Mark: 1, Place: 2, Open: true}
			b.dossier.Crimes[1] = 7
			b.team = 2
			p.sender.SetTeam(1)
		case 6:
			a.mask |= 1 << cBag
			a.bag = bag{Name: "Ann", Notes: "knows", Items: []thing{{ID: 3, Label: "axe", Heat: 20}, {ID: 4, For: 2}}, Marks: [2][]string{{"a", "bc"}, nil}}
		case 7:
			a.bag.Name = "Anna Ä"
			a.bag.Items = append(a.bag.Items, thing{ID: 5, Label: "bow", Turn: [4]float32{0.5, 0, 0, 1}, At: [2]float32{1, -2}, Count: 1})
			a.bag.Path, a.bag.Raw = []float32{1, 2, 3}, []uint8{9, 8, 7}
		case 13:
			a.bag.Items = a.bag.Items[:1]
			a.bag.Items[0].Count = 2
			a.bag.Raw = append(a.bag.Raw, 6)
			p.sender.SetAudience(2, scouts, true)
		}
		now := p.make()
		if i%5 != 4 { // one in five is lost
			p.read(now)
		}
		if i > 1 && i%5 != 1 {
			p.ack(now - 2)
		}
	}
	return p
}

// longStory is a short match of records that are longer than a packet.
func longStory(t *testing.T) *play {
	p := newPlay(t, 1)
	p.room = 150
	a, b := p.add(1, 1), p.add(2, 0)
	a.gun = gun{Ammo: 12, Secret: 1 << 40}
	a.mask |= 1<<cBag | 1<<cTag
	b.mask |= 1<<cBag | 1<<cPrivate
	b.follow.Target = 1
	for i, k := range []*body{a, b} {
		k.bag = bag{Name: "Ann", Notes: "knows how to read and write", Path: []float32{1, -2, 3}, Raw: []uint8{9, 8, 7, 6}, Full: true, Marks: [2][]string{{"a", "bcd"}, nil}}
		for n := range 6 {
			k.bag.Items = append(k.bag.Items, thing{ID: uint16(30001 * (n + i)), Label: "axe bow"[n:], Turn: [4]float32{0.5, float32(n), 0, 1}, At: [2]float32{float32(n), -2}, Heat: int8(20 + n), Count: 1 << (4 * n), For: 2})
		}
	}
	for i := range 14 {
		switch i {
		case 2, 9:
			a.pos.X++ // while it is in pieces, and after
		case 5:
			b.bag.Items = b.bag.Items[:2]
		case 11:
			p.src.Teleport(1)
			for n := range a.bag.Items { // longer than a packet again
				a.bag.Items[n].ID += 7777
				a.bag.Items[n].Turn, a.bag.Items[n].Count = [4]float32{1, 2, float32(n), 0}, 1<<31-uint32(n)
			}
		}
		now := p.make()
		if i%5 != 4 { // one in five is lost
			p.read(now)
		} else {
			p.sender.Lost(p.sent[now])
		}
		if i > 1 && i%5 != 1 {
			p.ack(now - 2)
		}
	}
	return p
}

// TestGolden: the bytes of the stories do not change, and a reader written from the standard reads from them
// the text that the files have for them.
func TestGolden(t *testing.T) {
	p := story(t)
	requireGolden(t, p, "testdata/golden.txt")
	p = longStory(t)
	require.EqualValues(t, 2, p.sender.Counters().InPieces)
	require.Len(t, p.recv.Ghosts(), 2)
	requireGolden(t, p, "testdata/pieces.txt")
}

func requireGolden(t *testing.T, p *play, file string) {
	ind := newIndependent(builtinTables())
	var out strings.Builder
	for tick := schema.Tick(1); tick <= p.tick; tick++ {
		fmt.Fprintf(&out, "%s\n", hex.EncodeToString(p.data[tick]))
		if tick%5 == 0 {
			out.WriteString("  lost\n")
			continue
		}
		ind.log = nil
		require.NoError(t, ind.read(p.data[tick]), "tick %d", tick)
		for _, l := range ind.log {
			out.WriteString("  " + l + "\n")
		}
	}
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(file, []byte(out.String()), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), out.String())
}

// TestIndependentReader lets the second reader follow random matches over a lossy
// link: it reads the same values as the receiver.
func TestIndependentReader(t *testing.T) {
	for seed := range uint64(12) {
		r, schemas := registry(t)
		w := newWorld(t, seed, r, schemas)
		recv := snapshot.NewReceiver(r, snapshot.ReceiverConfig{})
		s := w.source.NewSender(uint16(seed%3), snapshot.SenderConfig{})
		ind := newIndependent(builtinTables())
		var sent [16]snapshot.Sent
		compared, jumps, classes := 0, 0, 0
		for range 120 {
			w.step(false)
			switch w.rng.IntN(12) {
			case 0:
				s.SetTeam(uint8(w.rng.IntN(3)))
			case 1:
				s.SetAudience(0, guests, w.rng.IntN(2) == 0)
			case 2:
				s.SetAudience(max(w.nextID, 5)-snapshot.NetID(w.rng.IntN(5)), scouts, true)
			}
			p := s.Append(nil, []int{100, 200, 1000}[seed%3], &sent[w.tick%16])
			if w.rng.IntN(5) == 0 {
				sent[w.tick%16].Reset()
				continue
			}
			_, err := recv.Read(p)
			require.NoError(t, err)
			require.NoError(t, ind.read(p))
			if w.tick > 4 {
				s.Delivered(&sent[(w.tick-3)%16])
				sent[(w.tick-3)%16].Reset()
			}
			for _, g := range recv.Ghosts() {
				if g.Gone != 0 || g.Newest().Tick != w.tick {
					continue
				}
				vals := ind.ghosts[int(g.Wire)].vals
				v, st := vals[len(vals)-1], g.Newest()
				require.Equal(t, st.Mask, v.mask.mask())
				require.Equal(t, int(st.Jumps), v.jumps)
				require.Equal(t, int(st.Audience), v.class)
				classes |= v.class
				jumps += v.jumps
				for c := range components {
					if got := st.Component(c); len(got) > 0 {
						require.Equal(t, got, v.words[c])
						compared++
					}
				}
			}
		}
		require.Greater(t, compared, 500)
		require.NotZero(t, jumps)
		if s.Viewer() != 0 {
			require.Equal(t, 31, classes)
		}
	}
}
