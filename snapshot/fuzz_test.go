package snapshot_test

import (
	"testing"
	"unsafe"

	"github.com/foretick/foretick/snapshot"
	"github.com/stretchr/testify/require"
)

func ptr[T any](v *T) unsafe.Pointer { return unsafe.Pointer(v) }

// hostile are packets that claim much and hold little.
func hostile() map[string][]byte {
	out := map[string][]byte{}
	build := func(name string, f func(w *snapshot.BitWriter)) {
		var w snapshot.BitWriter
		w.Write(100, 32)
		f(&w)
		out[name] = w.Bytes()
	}
	build("removals in every page", func(w *snapshot.BitWriter) {
		w.Write(3, 2)
		w.Golomb(1)
		w.Golomb(128)
		for range 128 {
			w.Golomb(500)
			w.Bool(false)
			w.Golomb(0)
		}
		w.Bool(false)
	})
	build("spawns of defaults", func(w *snapshot.BitWriter) {
		w.Write(3, 2)
		w.Golomb(1)
		w.Golomb(0)
		for i := 0; w.Len() < 1200*8-32; i++ {
			w.Bool(true)
			w.Golomb(0)
			w.Bool(true)
			w.Write(0, 2)
			w.Write(0, 2)
			w.Golomb(0)
			w.Write(0, 5)
			if i == 127 {
				break
			}
		}
		w.Bool(false)
	})
	build("endless postponed runs", func(w *snapshot.BitWriter) {
		w.Write(0, 2)
		w.Golomb(1)
		w.Golomb(0)
		w.Bool(false)
		w.Golomb(65535)
	})
	out["empty"] = nil
	out["ones"] = make([]byte, 1200)
	for i := range out["ones"] {
		out["ones"][i] = 0xff
	}
	return out
}

// FuzzRead feeds any bytes to a receiver that holds something. It neither panics
// nor, when it refuses, changes anything.
func FuzzRead(f *testing.F) {
	good, _ := recorded(f)
	for _, p := range good {
		f.Add(p)
	}
	for _, p := range hostile() {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		packets, recv := recorded(t)
		for _, q := range packets[:len(packets)-1] {
			if _, err := recv.Read(q); err != nil {
				t.Fatal(err)
			}
		}
		newest, _ := recv.Newest()
		h, n := recv.Hash(newest)
		ghosts := len(recv.Ghosts())
		if _, err := recv.Read(p); err != nil {
			h2, n2 := recv.Hash(newest)
			again, _ := recv.Newest()
			require.Equal(t, []any{h, n, ghosts, newest}, []any{h2, n2, len(recv.Ghosts()), again})
			require.Empty(t, recv.Changes())
			require.ErrorIs(t, err, snapshot.ErrMalformed)
		}
		for _, g := range recv.Ghosts() {
			g.Sample(newest, 0.5)
			s := g.Newest()
			for c := range components {
				s.Component(c)
			}
		}
	})
}

// recorded is a short match's packets, each acked, and a receiver for them.
func recorded(t tester) ([][]byte, *snapshot.Receiver) {
	r, schemas := registry(t)
	w := newWorld(t, 11, r, schemas)
	s := w.source.NewSender(1, snapshot.SenderConfig{})
	var packets [][]byte
	var rec snapshot.Sent
	for range 12 {
		w.spawn()
	}
	for range 8 {
		w.step(false)
		packets = append(packets, s.Append(nil, 700, &rec))
		s.Delivered(&rec)
	}
	return packets, snapshot.NewReceiver(r, snapshot.ReceiverConfig{})
}

// FuzzUnpack feeds any bytes to a packed command: what is accepted packs to the
// same bytes again.
func FuzzUnpack(f *testing.F) {
	s := schema[command](f, snapshot.SchemaOptions{})
	f.Add(s.Pack(ptr(&command{MoveX: 1, Aim: 1, Fire: true, Slot: -3}), nil))
	f.Add(make([]byte, s.PackedSize()))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, p []byte) {
		var c command
		if err := s.UnpackRefs(p, sameRefs{}, ptr(&c)); err != nil {
			require.ErrorIs(t, err, snapshot.ErrMalformed)
			return
		}
		require.Equal(t, p, s.PackRefs(ptr(&c), sameRefs{}, nil))
	})
}
