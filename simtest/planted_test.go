package simtest_test

import "github.com/foretick/foretick/internal/plantedtest"

// planted is a game with room for a fault.
type planted = plantedtest.Game

var nudge = plantedtest.Nudge
