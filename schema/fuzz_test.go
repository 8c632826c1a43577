package schema_test

import (
	"testing"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/schema"
	"github.com/stretchr/testify/require"
)

// FuzzUnpack feeds any bytes to a packed command: what is accepted packs to the
// same bytes again.
func FuzzUnpack(f *testing.F) {
	s := compile[command](f, schema.Options{})
	f.Add(s.Pack(ptr(&command{MoveX: 1, Aim: 1, Fire: true, Slot: -3}), nil))
	f.Add(make([]byte, s.PackedSize()))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, p []byte) {
		var c command
		costtest.Bound(t, len(p), func() { _ = s.UnpackRefs(p, sameRefs{}, ptr(&c)) })
		c = command{}
		if err := s.UnpackRefs(p, sameRefs{}, ptr(&c)); err != nil {
			require.ErrorIs(t, err, schema.ErrMalformed)
			return
		}
		require.Equal(t, p, s.PackRefs(ptr(&c), sameRefs{}, nil))
	})
}
