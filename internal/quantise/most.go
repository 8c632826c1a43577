package quantise

import "github.com/foretick/foretick/internal/coder"

// MostBits returns a bound of a component's size in bits, in a record against a prefab's defaults. The bound
// holds for any values, and for a viewer that receives all fields.
func (r *Registry) MostBits(comp int) (bits int) {
	c, most := r.Comps[comp], r.Tables.Most()
	coded := c.Coding(Everything)
	for i := 0; i < len(coded.Units); i++ {
		u := &coded.Units[i]
		bits += most.Unit(int(u.Sort), coded.Codes[u.From:u.From+u.N])
		if u.Sort != coder.SortLength {
			continue
		}
		// All elements of a slice are alike.
		n, each := -1-u.Vec, 0
		x := coded.Extents[n]
		for _, e := range coded.Units[i+1 : i+1+x.Units] {
			each += most.Unit(int(e.Sort), coded.Codes[e.From:e.From+e.N])
		}
		bits += each * c.Lists[n].Most
		i += c.Lists[n].Most * x.Units
	}
	return bits
}
