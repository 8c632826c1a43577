package schema_test

import (
	"reflect"
	"unsafe"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/foretick/foretick/internal/schematest"
	"github.com/foretick/foretick/schema"
)

// entityRef is a reference to an entity in these tests. Schemas have its name, and that of
// this package.
type entityRef uint64

type command struct {
	MoveX, MoveY float32 `net:"min=-1,max=1,step=0.0078125"`
	Aim          float32 `net:"angle,bits=12"`
	Fire, Jump   bool    `net:"oneshot"`
	Held         bool
	Slot         int8 `net:"min=-3,max=12"`
	Seed         uint64
	At           [2]float64
	Who          entityRef
}

// Types that the tests of snapshots have too.
type (
	position   = schematest.Position
	gun        = schematest.Gun
	everything = schematest.Everything
)

// tester is a test, a benchmark, or a fuzz target.
type tester interface {
	require.TestingT
	Helper()
}

// sameRefs takes references for wire ids.
type sameRefs struct{}

func (sameRefs) Net(e uint64) uint32    { return uint32(e) }
func (sameRefs) Entity(r uint32) uint64 { return uint64(r) }

func ptr[T any](v *T) unsafe.Pointer { return unsafe.Pointer(v) }

func compile[T any](t tester, o schema.Options) *schema.Schema {
	t.Helper()
	o.Ref, o.Audiences = reflect.TypeFor[entityRef](), []string{"scouts", "guests"}
	s, err := schema.Compile(reflect.TypeFor[T](), o)
	require.NoError(t, err)
	return s
}

func turnOf(rt *rapid.T, name string) (q [4]float32) {
	for i := range q {
		q[i] = rapid.Float32Range(-1, 1).Draw(rt, name)
	}
	return q
}
