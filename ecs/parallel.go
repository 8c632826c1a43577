package ecs

// Executor runs the tasks 0 to n − 1, in any order and on any goroutines, and
// returns when all are done. The caller supplies it: this package starts no
// goroutine.
type Executor interface {
	// Run calls task once with each of 0 to n − 1. A task does not panic: the
	// execution passes on the panic of a system.
	Run(n int, task func(i int))
}

// batch is a run of consecutive systems [from, to) that do not conflict.
type batch struct {
	from, to int
}

type parallelRun[C any] struct {
	w     *World
	c     C
	list  []int
	panic []any
	task  func(int)
}

// SetExecutor makes Execute and ExecuteRender run systems in parallel when they
// do not conflict; nil runs them in sequence. The result is the same. Systems
// conflict when they share a component that one of them writes, or issue
// structural commands. Parallel systems share C, and the hook is called on the
// goroutine of each system. Parallel bodies may query and look up entities.
// [Watch.Poll], [World.Children], [World.Hash] and saving belong in
// [Structural] systems, which run alone, or between executions.
func (s *Schedule[C]) SetExecutor(x Executor) { s.exec = x }

// batch groups the systems, per update type, in running order.
func (s *Schedule[C]) batch() {
	s.batches = s.batches[:0]
	for i := 0; i < len(s.systems); {
		j := i + 1
	grow:
		for ; j < len(s.systems); j++ {
			for k := i; k < j; k++ {
				a, b := s.systems[k], s.systems[j]
				if a.render == b.render && a.conflicts(b) {
					break grow
				}
			}
		}
		s.batches = append(s.batches, batch{i, j})
		i = j
	}
	s.par.task = s.runTask
	s.par.list = make([]int, 0, len(s.systems))
	s.par.panic = make([]any, len(s.systems))
}

func (s *Schedule[C]) executeParallel(w *World, c C, render bool) {
	for _, b := range s.batches {
		list := s.par.list[:0]
		for i := b.from; i < b.to; i++ {
			if sys := s.systems[i]; sys.render == render && sys.bits&^w.tags == 0 {
				list = append(list, i)
			}
		}
		switch len(list) {
		case 0:
		case 1:
			s.runOne(list[0], s.systems[list[0]], w, c)
		default:
			s.runBatch(list, w, c)
		}
	}
}

func (s *Schedule[C]) runBatch(list []int, w *World, c C) {
	// refresh now, because nothing may refresh a cache while several systems read it
	for _, i := range list {
		if q := s.systems[i].query; q != nil {
			q.All(w)
		}
	}
	w.locks++
	w.parallel = true
	s.par.w, s.par.c, s.par.list = w, c, list
	s.exec.Run(len(list), s.par.task)
	w.parallel = false
	var zero C
	s.par.w, s.par.c = nil, zero
	w.unlock()
	for _, p := range s.par.panic {
		if p != nil {
			clear(s.par.panic)
			panic(p)
		}
	}
}

// runTask runs one system of a batch. It keeps a panic for the caller's
// goroutine.
func (s *Schedule[C]) runTask(i int) {
	defer func() {
		if p := recover(); p != nil {
			s.par.panic[i] = p
		}
	}()
	i = s.par.list[i]
	sys := s.systems[i]
	if s.hook != nil {
		s.hook.Before(s.par.c, i)
	}
	if sys.once {
		sys.run(s.par.c, Rows{})
	} else {
		for _, r := range sys.query.All(s.par.w) {
			sys.run(s.par.c, r)
		}
	}
	if s.hook != nil {
		s.hook.After(s.par.c, i)
	}
}
