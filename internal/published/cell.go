// Package published hands values from one goroutine to any number of others without a lock.
package published

import "sync/atomic"

// Cell holds the newest value that its writer published. The zero value holds none. The writer
// never waits: while readers hold a value, it fills another one. It allocates only when readers
// hold more values than ever before.
type Cell[T any] struct {
	newest atomic.Pointer[Page[T]]
	pages  []*Page[T] // the writer's
	draft  *Page[T]   // the writer's: not published yet
}

// Page is one value of a cell. A page that a reader holds does not change.
type Page[T any] struct {
	Value   T
	readers atomic.Int32
}

// Draft returns the value that the next Publish publishes. It still has the content of some
// earlier time, so that its slices can be used again. It is for the writer alone.
func (c *Cell[T]) Draft() *T {
	if c.draft == nil {
		c.draft = c.free()
	}
	return &c.draft.Value
}

func (c *Cell[T]) free() *Page[T] {
	for _, p := range c.pages {
		if p != c.newest.Load() && p.readers.Load() == 0 {
			return p
		}
	}
	p := &Page[T]{}
	c.pages = append(c.pages, p)
	return p
}

// Publish makes the draft the newest value. It is for the writer alone.
func (c *Cell[T]) Publish() {
	c.Draft()
	c.newest.Store(c.draft)
	c.draft = nil
}

// Hold returns the newest value, which stays as it is until Release. It returns nil if nothing was
// published. Any goroutine may call it.
func (c *Cell[T]) Hold() *Page[T] {
	for {
		p := c.newest.Load()
		if p == nil {
			return nil
		}
		p.readers.Add(1)
		if p == c.newest.Load() { // else the writer may have taken it before it was counted
			return p
		}
		p.readers.Add(-1)
	}
}

// Release ends a Hold.
func (p *Page[T]) Release() { p.readers.Add(-1) }

// Forget calls fn with each value that is neither the newest nor held, so that fn can clear its
// pointers. It is for the writer alone.
func (c *Cell[T]) Forget(fn func(*T)) {
	for _, p := range c.pages {
		if p != c.newest.Load() && p.readers.Load() == 0 {
			fn(&p.Value)
		}
	}
}
