package foretick

import (
	"github.com/foretick/foretick/snapshot"
)

// checkRecords refuses prefabs of which a record may be too long to send, whatever the values.
func (p *Protocol) checkRecords() {
	reg := p.compiled.Registry.Plan()
	for i := range reg.Prefabs {
		k, total, most, greatest := &reg.Prefabs[i], 0, 0, ""
		for c := k.Mask.Next(0); c >= 0; c = k.Mask.Next(c + 1) {
			n := reg.MostBits(c)
			if total += n; n > most {
				most, greatest = n, reg.Comps[c].Name
			}
		}
		if size := snapshot.RecordBytes(total); size > snapshot.MaxRecord {
			what := "prefab " + k.Name
			if k.Name == singletonPrefab {
				what = "all singletons together"
			}
			p.faultf("%s can take %d bytes in a snapshot, and %d are allowed; %s takes most, up to %d: lower max= of its strings and slices, or move some to other entities", what, size, snapshot.MaxRecord, greatest, (most+7)/8)
		}
	}
}
