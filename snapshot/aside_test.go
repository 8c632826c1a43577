package snapshot_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/snapshot"
)

// An entity that is set aside is listed as postponed, whether it is new or known, and whether it is the
// viewer's own or not. All others arrive. It arrives once it is no longer set aside.
func TestSetAside(t *testing.T) {
	for _, known := range []bool{false, true} {
		for _, own := range []uint16{0, 1} {
			p := newPlay(t, 1)
			p.add(1, 0)
			p.add(2, own)
			p.add(3, 0)
			step := func() *snapshot.Receiver {
				p.bodies[2].ident.ID++
				p.bodies[3].ident.ID++
				at := p.make()
				_, err := p.recv.Read(p.data[at])
				require.NoError(t, err)
				p.sender.Delivered(p.sent[at])
				return p.recv
			}
			if known {
				for range 6 {
					step()
				}
			} else { // it has its wire id, but nothing was read
				p.make()
			}
			p.sender.SetAside(2, true)
			w, ok := p.sender.Wire(2)
			require.True(t, ok)
			id, ok := p.sender.Named(w)
			require.True(t, ok)
			require.EqualValues(t, 2, id)
			_, ok = p.sender.Named(900)
			require.False(t, ok)
			before := p.bodies[2].ident.ID
			for range 10 {
				r := step()
				_, all, whole := r.Complete(p.tick)
				require.False(t, all)
				require.Equal(t, own == 0, whole)
				if g := r.Find(w); known {
					require.Equal(t, int32(before), g.Newest().Component(cIdent)[0], "the viewer keeps what it has")
				} else {
					require.Nil(t, g)
				}
				other, _ := p.sender.Wire(3)
				require.Equal(t, int32(p.bodies[3].ident.ID), r.Find(other).Newest().Component(cIdent)[0])
			}
			p.sender.SetAside(2, false)
			g := step().Find(w)
			require.Equal(t, int32(p.bodies[2].ident.ID), g.Newest().Component(cIdent)[0])
			_, all, _ := p.recv.Complete(p.tick)
			require.True(t, all)
		}
	}
}

// After Restart every record is full: a receiver that holds nothing reads it.
func TestRestart(t *testing.T) {
	p := newPlay(t, 1)
	for id := range snapshot.NetID(5) {
		p.add(1+id, uint16(id%2))
	}
	p.sender.Restart() // nothing is held yet
	read := func() {
		at := p.make()
		_, err := p.recv.Read(p.data[at])
		require.NoError(t, err)
		p.sender.Delivered(p.sent[at])
	}
	for range 6 {
		for _, b := range p.bodies {
			b.ident.ID++
		}
		read()
	}
	p.sender.Restart()
	at := p.make()
	reg, _ := registry(t)
	fresh := snapshot.NewReceiver(reg, snapshot.ReceiverConfig{})
	_, err := fresh.Read(p.data[at])
	require.ErrorIs(t, err, snapshot.ErrMalformed, "its tick is short")
	_, err = p.recv.Read(p.data[at])
	require.NoError(t, err)
	require.Equal(t, 5, p.sent[at].Len(), "nobody is known to hold anything")
}

// The entity whose record is malformed is named.
func TestFault(t *testing.T) {
	p := newPlay(t, 0)
	for id := range snapshot.NetID(5) {
		p.add(1+id, 0)
	}
	at := p.make()
	require.Zero(t, p.recv.Fault())
	other := snapshot.NewReceiver(p.recv.Registry(), snapshot.ReceiverConfig{Viewer: 3}) // a record without an owner …
	_, err := other.Read(p.data[at])
	require.NoError(t, err)
	require.Zero(t, other.Fault())
	p.bodies[4].owner = 3 // … and of another viewer's
	at = p.make()
	_, err = other.Read(p.data[at])
	require.ErrorIs(t, err, snapshot.ErrMalformed)
	w, ok := p.sender.Wire(4)
	require.True(t, ok)
	require.Equal(t, w, other.Fault())
	_, err = other.Read(nil)
	require.Error(t, err)
	require.Zero(t, other.Fault(), "not in a record")
}
