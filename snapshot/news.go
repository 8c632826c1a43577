package snapshot

import (
	"github.com/foretick/foretick/internal/quantise"
	"github.com/foretick/foretick/schema"
)

// classTicks has, for each class from ToAllies on, the newest tick with a difference that the class would see.
type classTicks [7]schema.Tick

// slotHot is the part of an entity that decides whether there is something new to send.
type slotHot struct {
	id    NetID // id is 0 if the slot is free.
	owner uint16
	refs  bool // refs is true if some component may hold references.
	team  uint8
	first bool // first is true if SetFirst marked the entity: one of Everyone then goes before all others.
	// changed has, by lane, the newest tick with a difference that the lane's audience would see.
	changed [quantise.Lanes]schema.Tick
}

// logLength is the number of ticks that a sender may skip and still follow the log.
const logLength = 16

// news is what happened to an entity in a tick.
type news struct {
	slot  int32
	owner uint16
	what  uint16
	refs  bool // refs is true if some component may hold references.
}

const (
	newsPublic uint16 = 1 << iota // every viewer sees a difference
	newsOwner                     // the owner sees a difference
	newsClass                     // the first of the bits for the classes from ToAllies on, one for each
	newsAll    uint16 = 1<<9 - 1
	newsBorn   uint16 = 1 << 9
	newsGone   uint16 = 1 << 10
	newsTeam   uint16 = 1 << 11 // the entity's team changed
)

// sight returns the news that an audience sees.
func sight(a quantise.Audience) uint16 {
	return newsPublic<<(a&quantise.ToOwner) | uint16(a>>1)*newsClass
}

func (s *Source) logNews(n news) {
	l := &s.log[s.seq%logLength]
	*l = append(*l, n)
}

// saw returns who sees a difference between an entity's newest version and the new words, which are known to
// differ: newsPublic, newsOwner, and newsClass << i for class i from ToAllies on. moves is set if the public
// words are or were displaced.
func (s *Source) saw(e *entity, mask quantise.Mask, own, pub []int32, moves bool) (saw uint16) {
	was := e.mask(e.head)
	if !s.reg.Shared() {
		if was.Equal(mask) {
			// Some word of own is known to differ, but references do not count.
			if !moves && !s.reg.HasRefs(mask) || s.differ(mask, own, e.lane(e.head, quantise.ToOwner)) {
				saw |= newsOwner
			}
			if s.differ(mask, pub, e.lane(e.head, quantise.Public)) {
				saw |= newsPublic
			}
			return saw
		}
		if !s.reg.SeenAlike(quantise.Public, mask, was) || s.reg.DifferSeen(quantise.Public, mask, pub, was, e.lane(e.head, quantise.Public)) {
			saw |= newsPublic
		}
		return saw | newsOwner
	}
	look := func(a quantise.Audience, now []int32) bool {
		return !s.reg.SeenAlike(a, mask, was) || s.reg.DifferSeen(a, mask, now, was, e.lane(e.head, a))
	}
	if look(quantise.Public, pub) {
		saw |= newsPublic
	}
	if look(quantise.ToOwner|quantise.ToAllies, own) {
		saw |= newsOwner
	}
	// The owner may be in these classes too, so a change on its grid counts.
	for i := range s.classes[e.slot] {
		c := quantise.ToAllies << i
		if s.reg.Classes&c == 0 {
			continue
		}
		if !s.reg.SeenAlike(c, mask, was) || s.reg.DifferSeen(c, mask, own, was, e.lane(e.head, quantise.ToOwner)) {
			saw |= newsClass << i
		}
	}
	return saw
}

// differ compares the words of equal masks, without references: the sender tracks their
// meaning for each viewer.
func (s *Source) differ(mask quantise.Mask, a, b []int32) bool { return s.reg.Differ(mask, a, b) }

// SetTeam sets an entity's team, for the audiences [schema.ToAllies] and
// [schema.ToEnemies]. Team 0, the default, is no team. Viewers whose audience changes are
// sent the entity again in full, without earlier baselines. Call it between the Put of an
// entity and End. It returns false for an entity that was not put.
func (s *Source) SetTeam(id NetID, team uint8) bool {
	e := s.lookup(id)
	if e == nil {
		return false
	}
	if h := &s.hot[e.slot]; h.team != team {
		h.team = team
		s.logNews(news{slot: e.slot, owner: h.owner, what: newsTeam, refs: h.refs})
	}
	return true
}

// SetFirst makes an entity of [Everyone] go before all others in each viewer's snapshots,
// and exceed the budget, like a viewer's own. Call it between the Put of an entity and End.
// It returns false for an entity that was not put.
func (s *Source) SetFirst(id NetID) bool {
	e := s.lookup(id)
	if e == nil {
		return false
	}
	s.hot[e.slot].first = true
	return true
}

// newestChange is the newest tick with a difference that an audience would see.
func (s *Source) newestChange(slot int32, h *slotHot, a quantise.Audience) schema.Tick {
	return newest(h.changed, a, s.classes, int(slot))
}
