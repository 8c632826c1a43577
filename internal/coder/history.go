package coder

// Baselines are an entity's values that both ends hold, with the same components: the
// newest and, if N is 3, two older ones.
type Baselines struct {
	N     int // N is the number of baselines. 0 means the prefab's defaults.
	Words [3][]int32
}

// At narrows baselines to one component's words.
func (b *Baselines) At(off, n int) Baselines {
	c := Baselines{N: b.N}
	c.Words[0] = b.Words[0][off : off+n]
	if b.N == 3 {
		c.Words[1], c.Words[2] = b.Words[1][off:off+n], b.Words[2][off:off+n]
	}
	return c
}

// EqualWords reports whether two vectors are equal in some words, not counting
// references.
func EqualWords(codes []Code, a, b []int32) bool {
	for i := range codes {
		if k := &codes[i]; a[k.Word] != b[k.Word] && k.Kind != Ref {
			return false
		}
	}
	return true
}

// elementsHeld returns the number of elements in all of the baselines, and in the newest.
func (b *Baselines) elementsHeld(k *Code) (all, newest int) {
	newest = int(b.Words[0][k.Word])
	if all = newest; b.N == 3 {
		all = min(all, int(b.Words[1][k.Word]), int(b.Words[2][k.Word]))
	}
	return all, newest
}

// Elements are a range of elements that the same number of baselines hold.
type Elements struct{ From, To, Held int }

// Spans returns the ranges of elements below n.
func (b *Baselines) Spans(k *Code, n int) [3]Elements {
	all, newest := b.elementsHeld(k)
	all, newest = min(all, n), min(newest, n)
	return [3]Elements{{0, all, b.N}, {all, newest, min(b.N, 1)}, {newest, n, 0}}
}
