package probe

import (
	"time"
)

// Preview is the engine of package preview, which documents the methods that it passes on. The
// types are the root's.
type Preview[View, Frame any] interface {
	Step(now time.Time) View
	Pause(on bool)
	StepTick()
	SetTimeScale(scale float64)
	Edit(fn func(*Frame))
	Close() error
}
