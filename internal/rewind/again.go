package rewind

// Given is a command as a Shooter took it, with its verdict, for ticks that run again. The zero Given is that
// of a player that gave no command.
type Given struct {
	given
	late bool
	used float64
	asOf Tick
}

// Given returns the newest command, with the verdict if it was judged.
func (s *Shooter) Given() Given {
	return Given{given{s.measured, s.claim, s.arrived, s.offset, s.gave, s.basis, s.verdict}, s.late, s.used, s.asOf}
}

// TakeBack sets what Given returned.
func (s *Shooter) TakeBack(g Given) {
	s.measured, s.claim, s.arrived, s.offset, s.gave, s.basis, s.verdict = g.measured, g.claim, g.arrived, g.offset, g.gave, g.basis, g.verdict
	s.late, s.used, s.asOf = g.late, g.used, g.asOf
}

// Again repeats the command of tick t with its verdict. A command that was not judged in its
// tick is judged as of t, and that has no effect on later ones. used is the result of Used at
// the end of the tick before. Call TakeBack afterwards.
func (s *Shooter) Again(g Given, t Tick, used float64) {
	s.TakeBack(g)
	if !s.late {
		s.late, s.used, s.asOf = true, used, t
	}
}
