package server

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/foretick/foretick"
	"github.com/stretchr/testify/require"
)

// A newcomer gets the number that was given up first, if that was long enough ago. Otherwise it gets a
// number that no player had yet, and if there is none, the one that was given up first. So no number is
// used again within a minute while another is free, and a minute uses no more numbers than it has
// players.
func TestFreeNumbersAreTakenInTurn(t *testing.T) {
	const most = 12
	for seed := range uint64(50) {
		s := sessions{owners: make([]*player, most+1), vacated: make([]vacancy, most+1)}
		fresh := []foretick.PlayerID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
		type left struct {
			number foretick.PlayerID
			at     time.Duration
		}
		rnd, taken, unused := rand.New(rand.NewPCG(seed, 1)), []foretick.PlayerID(nil), []left(nil)
		now := time.Duration(0)
		for range 2000 {
			now += time.Duration(rnd.IntN(12000)) * time.Millisecond
			s.leaving = s.leaving[:0]
			if rnd.IntN(2) == 0 && len(taken) > 0 {
				i := rnd.IntN(len(taken))
				number := taken[i]
				taken = slices.Delete(taken, i, i+1)
				s.vacate(number, now)
				unused = append(unused, left{number, now})
				if len(fresh)+len(unused) > 1 && rnd.IntN(2) == 0 { // its OnLeave has not run yet
					s.leaving = append(s.leaving, number)
				}
			}
			want, isFresh := foretick.PlayerID(0), false
			switch free := slices.DeleteFunc(slices.Clone(unused), func(l left) bool { return slices.Contains(s.leaving, l.number) }); {
			case len(free) > 0 && (now-free[0].at >= time.Minute || len(fresh) == 0):
				want = free[0].number
			case len(fresh) > 0:
				want, isFresh = fresh[0], true
			}
			number := s.free(now)
			require.Equal(t, want, number)
			if number == 0 || rnd.IntN(2) == 0 {
				continue
			}
			s.owners[number] = &player{owner: number}
			taken = append(taken, number)
			if isFresh {
				fresh = fresh[1:]
			} else {
				unused = slices.DeleteFunc(unused, func(l left) bool { return l.number == number })
			}
		}
	}
}
