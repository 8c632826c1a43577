package foretick

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// A newcomer gets the free number that was unused longest, whoever comes and goes: no
// number comes back before all others that are free.
func TestFreeNumbersAreTakenInTurn(t *testing.T) {
	const most = 12
	for seed := range uint64(50) {
		s := sessions{owners: make([]*player, most+1), vacated: make([]uint64, most+1)}
		unused := []PlayerID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12} // the number unused longest first
		rnd, taken := rand.New(rand.NewPCG(seed, 1)), []PlayerID(nil)
		for range 2000 {
			s.leaving = s.leaving[:0]
			if rnd.IntN(2) == 0 && len(taken) > 0 {
				i := rnd.IntN(len(taken))
				number := taken[i]
				taken = slices.Delete(taken, i, i+1)
				s.vacate(number)
				unused = append(unused, number)
				if len(unused) > 1 && rnd.IntN(2) == 0 { // its OnLeave is yet to run
					s.leaving = append(s.leaving, number)
				}
			}
			want := PlayerID(0)
			if len(unused) > 0 {
				want = unused[0]
			}
			number := s.free()
			require.Equal(t, want, number)
			if number != 0 && rnd.IntN(2) == 0 {
				s.owners[number] = &player{owner: number}
				taken, unused = append(taken, number), unused[1:]
			}
		}
	}
}
