package ecs

type watchState struct{}

type savedWatch struct{}

func (h *History) saveWatches(s *slot)    {}
func (h *History) restoreWatches(s *slot) {}
