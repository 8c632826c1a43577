package snapshot_test

import (
	"slices"
	"testing"

	"github.com/foretick/foretick/snapshot"
	"github.com/stretchr/testify/require"
)

// TestHashFields: both ends hash each field alike, and where a damaged packet that
// parses makes one decode differently, the hashes name the first such field.
func TestHashFields(t *testing.T) {
	r, schemas := registry(t)
	w := newWorld(t, 5, r, schemas)
	s := w.source.NewSender(1, snapshot.SenderConfig{})
	s.SetTeam(1)
	var sent snapshot.Sent
	var good [][]byte
	for range 12 {
		w.spawn()
	}
	compared, named := 0, map[string]bool{}
	for range 60 {
		w.step(false)
		p := s.Append(nil, 4000, &sent)
		s.Delivered(&sent)
		for flip := -1; flip < len(p)*8; flip += 1 + w.rng.IntN(40) {
			recv := snapshot.NewReceiver(r, snapshot.ReceiverConfig{})
			for _, q := range good {
				_, err := recv.Read(q)
				require.NoError(t, err)
			}
			bad := slices.Clone(p)
			if flip >= 16 {
				bad[flip/8] ^= 1 << (flip % 8)
			}
			if now, err := recv.Read(bad); err != nil || now != w.tick {
				continue
			}
			for _, b := range w.bodies {
				wire, ours := s.HashFields(b.id, nil)
				g := recv.Find(wire)
				if g == nil || wire == 0 {
					continue
				}
				theirs, ok := g.HashFields(w.tick, nil)
				if !ok {
					continue
				}
				comp, field, differ := snapshot.FirstDifferent(ours, theirs)
				if flip < 16 {
					require.False(t, differ, "%s.%s", comp, field)
					compared += len(ours)
				} else if differ {
					named[comp+"."+field] = true
					for c, sc := range schemas {
						for _, f := range sc.Fields() {
							if sc.Name() == comp && f.Name == field && !f.Ref {
								x, y := w.source.Words(b.id, c, s.Audience(b.id)), g.Newest().Component(c)
								require.NotEqual(t, x[f.Word:f.Word+f.Words], y[f.Word:f.Word+f.Words])
							}
						}
					}
				}
			}
		}
		if good = append(good, p); len(good) > 12 { // a new viewer
			good = nil
			s = w.source.NewSender(1, snapshot.SenderConfig{})
			s.SetTeam(1)
		}
	}
	require.Greater(t, compared, 5000)
	require.Greater(t, len(named), 8, "%v", named)
}
