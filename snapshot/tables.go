package snapshot

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
)

// Statistics counts the flags that senders code, to learn tables from a recorded
// match: give it to [SenderConfig].Statistics, play, and take [Statistics.Tables].
// The zero value is empty. It belongs to one goroutine.
type Statistics struct {
	n [contexts][2]uint64
}

// Tables are the probabilities that code most cheaply what was counted, as bytes
// for [Registry.UseTables]. What was seen seldom stays near the built-in tables.
func (s *Statistics) Tables() []byte {
	prior := builtin()
	b := []byte{tablesVersion}
	for i, n := range s.n {
		const weight = 24
		p := (float64(n[0]) + weight*float64(prior[i])/probOne) / (float64(n[0]+n[1]) + weight)
		b = binary.LittleEndian.AppendUint16(b, uint16(min(max(p*probOne+0.5, 4), probOne-4)))
	}
	return b
}

const tablesVersion = 1

// UseTables makes the registry code flags with tables that [Statistics] learned,
// instead of the built-in ones. Both ends need the same: Describe tells them apart.
func (r *Registry) UseTables(b []byte) error {
	if r.frozen {
		return ErrFrozen
	}
	if len(b) != 1+2*contexts || b[0] != tablesVersion {
		return fmt.Errorf("snapshot: %d bytes are no tables of version %d: learn them again with this version", len(b), tablesVersion)
	}
	p := new(probabilities)
	for i := range p {
		p[i] = binary.LittleEndian.Uint16(b[1+2*i:])
		if p[i] == 0 || p[i] >= probOne {
			return fmt.Errorf("snapshot: table entry %d is %d: it must lie between 1 and %d", i, p[i], probOne-1)
		}
	}
	r.probs, r.costs = p, costTable(p)
	return nil
}

// describe names the tables by a hash.
func (p *probabilities) describe() string {
	h := fnv.New64a()
	for _, v := range p {
		_, _ = h.Write([]byte{byte(v), byte(v >> 8)})
	}
	return fmt.Sprintf("tables %d %016x\n", tablesVersion, h.Sum64())
}
