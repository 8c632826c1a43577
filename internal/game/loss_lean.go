package game

import "github.com/foretick/foretick/ecs"

// pastWords returns words of earlier ticks.
type pastWords interface {
	// WordsBack returns an entity's words of a component at the end of the tick that was the given
	// number of ticks before the current one, or nil if they are not known.
	WordsBack(e ecs.Entity, comp int, ticks Tick) []int32
}

const (
	// leanSearch is for how many ticks a body may have stood still and still be judged by its moves
	// before.
	leanSearch = 4 * lossTicks
	// leanHalf is half of the number of moves that are judged. In leanHalf moves, a value that rounding
	// stops moves hardly more than leanHalf steps.
	leanHalf = 4
)

// leaning reports whether something stopped a value that stands still, such as a wall. Then the moves
// before the last one were even, and longer than a step. A value that rounding stops slows down first,
// to one step a tick.
func (l *Losses) leaning(k lossAt, word int32, past pastWords) bool {
	if at, known := l.leans[k]; known && at == word {
		return true
	}
	i := l.Facts.Components[k.comp].Schema.Fields()[k.field].Word
	at := func(ticks Tick) (int32, bool) {
		words := past.WordsBack(k.e, k.comp, ticks)
		if words == nil {
			return 0, false
		}
		return words[i], true
	}
	stood := Tick(2)
	for v, ok := at(stood); v == word; v, ok = at(stood) {
		if stood++; !ok || stood > leanSearch {
			return false
		}
	}
	var moved [2]int64
	to, ok := at(stood)
	for n := range Tick(2 * leanHalf) {
		from, known := at(stood + 1 + n)
		if ok = ok && known; !ok {
			break
		}
		moved[n/leanHalf] += max(int64(to)-int64(from), int64(from)-int64(to))
		to = from
	}
	if moved[0] <= leanHalf || 4*moved[0] < 3*moved[1] {
		return false
	}
	if len(l.leans) == mostLosses {
		clear(l.leans)
	}
	l.leans[k] = word
	return true
}
