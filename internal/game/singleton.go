package game

import (
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
)

// SingletonPrefab is the prefab of the one entity that carries all singletons.
const SingletonPrefab = "foretick.Singletons"

// SingletonType is a singleton that is sent.
type SingletonType struct {
	ID        ecs.ID     // the singleton's own id
	Row       ecs.Handle // the component that carries it in the row
	Size      uintptr
	Predicted bool
	Deep      func(dst, src unsafe.Pointer) // copies the value; nil for plain memory
}

// SingletonRow copies singletons between the world, where systems use them, and the row of the entity
// that carries them. Snapshots, comparison and rollback handle rows only.
//
// On a server the world's values are the true ones, on a client those of the row. A client's row is
// saved, rolled back, compared and drawn like any other.
type SingletonRow struct {
	world  *ecs.World
	Entity ecs.Entity // Entity is the row's entity on a server.
	each   []singletonCopy
	// predicted is how many singletons are predicted. They come first in each.
	predicted int
}

type singletonCopy struct {
	SingletonType
	query *ecs.Query
	at    unsafe.Pointer // at points to the singleton in the world.
}

// NewSingletonRow returns a SingletonRow for a world.
func NewSingletonRow(p *Facts, w *ecs.World) SingletonRow {
	r := SingletonRow{world: w}
	for _, predicted := range []bool{true, false} {
		for _, v := range p.Singletons {
			if v.Predicted == predicted {
				r.each = append(r.each, singletonCopy{v, ecs.NewQuery(p.Types, ecs.With(v.Row)), ecs.Engine(w).SingletonPointer(v.ID)})
			}
		}
		if predicted {
			r.predicted = len(r.each)
		}
	}
	return r
}

// TakeRow copies the world's values into the row.
func (r *SingletonRow) TakeRow() { r.takeOf(r.each) }

// TakePredicted copies the values of predicted singletons alone. Code that compares predicted state
// calls it before and after each system.
func (r *SingletonRow) TakePredicted() { r.takeOf(r.each[:r.predicted]) }

func (r *SingletonRow) takeOf(each []singletonCopy) {
	for i := range each {
		v := &each[i]
		if at := r.placeOf(v); at != nil {
			v.copyValue(at, v.at)
		}
	}
}

// Give copies the row's values into the world.
func (r *SingletonRow) Give() {
	for i := range r.each {
		v := &r.each[i]
		if at := r.placeOf(v); at != nil {
			v.copyValue(v.at, at)
		}
	}
}

// placeOf returns a singleton's place in the row. It returns nil if there is no row, before anything of
// the match has arrived.
func (r *SingletonRow) placeOf(v *singletonCopy) unsafe.Pointer {
	for _, rows := range v.query.All(r.world) {
		if rows.Len() > 0 {
			return rows.Column(v.Row.ID())
		}
	}
	return nil
}

func (v *singletonCopy) copyValue(dst, src unsafe.Pointer) {
	if v.Deep != nil {
		v.Deep(dst, src)
		return
	}
	layout.CopyBytes(dst, src, v.Size)
}
