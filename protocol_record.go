package foretick

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/foretick/foretick/snapshot"
)

// recordShare is a component's part of the longest record of a prefab.
type recordShare struct {
	name  string
	bytes int
}

// checkRecords refuses prefabs of which a record may be too long to send, whatever the values.
func (p *Protocol) checkRecords() {
	reg := p.compiled.Registry.Plan()
	most := make([]int, len(reg.Comps)) // bits
	for i := range most {
		most[i] = reg.MostBits(i)
	}
	for i := range reg.Prefabs {
		k, total := &reg.Prefabs[i], 0
		var shares []recordShare
		for m := k.Mask; m != 0; m &= m - 1 {
			c := bits.TrailingZeros64(m)
			total += most[c]
			shares = append(shares, recordShare{reg.Comps[c].Name, (most[c] + 7) / 8})
		}
		if size := snapshot.RecordBytes(total); size > snapshot.MaxRecord {
			what := fmt.Sprintf("prefab %q", k.Name)
			if k.Name == singletonPrefab {
				what = "all singletons together"
			}
			p.faultf("%s can take %d bytes in a snapshot, of at most %d (%s): lower max= of strings and slices, or move some to other entities", what, size, snapshot.MaxRecord, greatest(shares))
		}
	}
}

// greatest lists the shares that are the greatest.
func greatest(shares []recordShare) string {
	slices.SortStableFunc(shares, func(a, b recordShare) int { return cmp.Compare(b.bytes, a.bytes) })
	var parts []string
	for _, s := range shares[:min(len(shares), 4)] {
		parts = append(parts, fmt.Sprintf("%s %d", s.name, s.bytes))
	}
	if len(shares) > 4 {
		parts = append(parts, "…")
	}
	return strings.Join(parts, ", ")
}
