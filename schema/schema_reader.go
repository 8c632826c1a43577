package schema

import (
	"encoding/binary"
	"math"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/foretick/foretick/internal/coder"
	"github.com/foretick/foretick/internal/quantise"
)

// Bounds for reading. Bytes that exceed them are refused, whatever they claim.
const (
	maxSchemaText      = 255
	maxSchemaWords     = 1 << 15 // words of all components
	maxReadPrefabWords = 1 << 17 // words of all prefabs
	maxReadTables      = 1 << 14 // bytes of tables
	maxReadRatio       = 1 << 20
	leastField         = 5 // least bytes of a field
)

// schemaReader reads the bytes of schemas. After a fault it reads zeros.
type schemaReader struct {
	b     []byte
	fault string
	words int // words is the number of words of the components read so far.
	// spread is the sum of the Spread of the components read so far: see plan.MaxSpread.
	spread int
	// shapes has the shapes of the current component.
	shapes []quantise.Shape
	// vec counts the vectors of the current component so far. ahead and bits are the number of vectors and the
	// bits of a packed value before the current slice.
	vec, ahead, bits int
	whole            []int32      // whole is scratch for a component's words.
	codes            []coder.Code // codes is scratch for a field's codes.
}

func (r *schemaReader) failAt(what string) {
	if r.fault == "" {
		r.fault, r.b = what, nil
	}
}

func (r *schemaReader) err() error {
	if r.fault == "" {
		return nil
	}
	return malformed(r.fault)
}

func (r *schemaReader) takeBytes(n int) []byte {
	if n > len(r.b) {
		r.failAt("length")
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *schemaReader) byte() byte {
	if b := r.takeBytes(1); b != nil {
		return b[0]
	}
	return 0
}

// uint reads a number up to a bound.
func (r *schemaReader) uint(most uint64, what string) uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || v > most || n > 1 && r.b[n-1] == 0 {
		r.failAt(what)
		return 0
	}
	r.b = r.b[n:]
	return v
}

// int reads a number between bounds.
func (r *schemaReader) int(lo, hi int64, what string) int64 {
	v, n := binary.Varint(r.b)
	if n <= 0 || v < lo || v > hi || n > 1 && r.b[n-1] == 0 {
		r.failAt(what)
		return min(max(0, lo), hi)
	}
	r.b = r.b[n:]
	return v
}

// float reads a positive number.
func (r *schemaReader) float(what string) float64 {
	b := r.takeBytes(8)
	if b == nil {
		return 1
	}
	v := math.Float64frombits(binary.LittleEndian.Uint64(b))
	if !(v > 0) || math.IsInf(v, 0) {
		r.failAt(what)
		return 1
	}
	return v
}

func (r *schemaReader) readText(what string) string {
	s := string(r.takeBytes(int(r.uint(maxSchemaText, what))))
	if !utf8.ValidString(s) || slices.ContainsFunc([]rune(s), func(c rune) bool { return !unicode.IsPrint(c) }) {
		r.failAt(what)
	}
	return s
}

// mask reads a set of components whose ids are below comps.
func (r *schemaReader) mask(comps int) Mask {
	var m quantise.MaskBuilder
	last := byte(0)
	for at, more := 0, true; more; at++ {
		if at%7 == 0 {
			last = r.byte()
		}
		if last>>(at%7)&1 != 0 {
			if at >= comps {
				break
			}
			m.Set(at)
		}
		if at%7 == 6 {
			if more = last >= 128; !more && (last != 0 || at < 7) {
				return m.Mask()
			}
		}
	}
	r.failAt("prefab's components")
	return Mask{}
}
