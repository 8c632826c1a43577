package snapshot

import "github.com/foretick/foretick/schema"

// SetAside leaves an entity out of the snapshots from the next Append on, as if there was no room for it. With
// aside false it is sent again. The viewer keeps the value that it has. Use it for an entity whose record the
// viewer cannot read. The setting ends when the entity is deleted and put again.
func (s *Sender) SetAside(id NetID, aside bool) {
	if w, ok := s.Wire(id); ok {
		s.aside.put(w, aside)
	}
}

// leavesOut reports whether any entity is set aside.
func (s *Sender) leavesOut() bool {
	for i, m := range s.aside {
		if m&s.live[i] != 0 {
			return true
		}
	}
	return false
}

// Named returns the entity that a wire id names for the viewer. It returns false for a wire
// id that is not in use.
func (s *Sender) Named(w schema.WireID) (NetID, bool) {
	if int(w) >= len(s.shown) || !s.live.has(w) {
		return 0, false
	}
	return s.shown[w].id, true
}

// Restart makes all snapshots sent so far useless as baselines: every entity is sent in full again. Removals
// are still repeated until they are acknowledged. Use it for a viewer that could not read a snapshot.
func (s *Sender) Restart() {
	s.view++
	s.viewed = s.src.tick
	clear(s.held)
	s.sent.forgetAll()
	s.forgetAllCuts()
}

// Fault returns the entity whose record made the last Read fail. It is 0 if Read did not
// fail, or failed elsewhere than in a record.
func (r *Receiver) Fault() schema.WireID { return r.fault }
