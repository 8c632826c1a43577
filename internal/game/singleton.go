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
	ID        ecs.ID // its own
	Row       ecs.Handle
	Size      uintptr
	Predicted bool
	Deep      func(dst, src unsafe.Pointer) // nil: plain memory
}

// SingletonRow copies singletons between the world, where systems use them, and the row of
// the entity that carries them: snapshots, comparison and rollback know rows only.
//
// On a server the world's values count, and on a client those of the row. The row there is
// saved, rolled back, compared and drawn as any other.
type SingletonRow struct {
	world     *ecs.World
	Entity    ecs.Entity // Entity is the row's entity on a server.
	each      []singletonCopy
	predicted int // predicted is how many singletons are predicted. They come first in each.
}

type singletonCopy struct {
	SingletonType
	query *ecs.Query
	at    unsafe.Pointer // at points to the singleton in the world.
}

// NewSingletonRow returns what copies the singletons of a world.
func NewSingletonRow(p *Facts, w *ecs.World) SingletonRow {
	r := SingletonRow{world: w}
	for _, predicted := range []bool{true, false} {
		for _, v := range p.Singletons {
			if v.Predicted == predicted {
				r.each = append(r.each, singletonCopy{v, ecs.NewQuery(p.Types, ecs.With(v.Row)), w.SingletonPointer(v.ID)})
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

// TakePredicted copies the values of predicted singletons alone. What compares predicted
// state calls it before and after each system.
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

// placeOf returns a singleton's place in the row, nil where there is no row: nothing of the
// match has arrived yet.
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
