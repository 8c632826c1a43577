package foretick

import (
	"slices"

	"github.com/foretick/foretick/snapshot"
)

const (
	// unreadSpacing is the least time between two reports that count, in 1/2 s. Clients send
	// one a second, which a network may bring closer together.
	unreadSpacing = 2
	// longestAside is the longest time that an entity is left out at once, in seconds.
	longestAside = 64
	// calmTime is how long after the last report a player's snapshots are bounded, in seconds.
	calmTime = 10
	// The usual size of snapshots is the average of usualOver of them. The first
	// skippedSnapshots are left out, and it is known after measuredSnapshots more.
	usualOver         = 64
	skippedSnapshots  = 16
	measuredSnapshots = 16
	// spared is the part of the usual size that a player gets while it is bounded, so that it
	// gains nothing where the measure is too high.
	spared = 7. / 8
)

// playerUnread is what follows from a player's reports of snapshots that it could not read:
// entities that are left out for a time, and a bound on what the player is sent, so that
// nobody receives more by reporting what is not true.
type playerUnread struct {
	last   Tick // of the newest report that counted; 0: none
	asides []aside

	usual    float64 // bytes of a snapshot without newcomers while nothing was reported, on average
	measured int     // snapshots counted, those skipped included
	bounded  bool
	purse    float64 // bytes that may be sent while bounded
}

// aside is an entity that a player could not read.
type aside struct {
	id    snapshot.NetID
	until Tick   // when it is tried again
	wait  uint32 // how long it was left out, in seconds
	out   bool   // it is left out now
}

// early reports whether a report comes too soon after the last one.
func (u *playerUnread) early(t Tick, rate int) bool {
	return u.last != 0 && t-u.last < Tick(rate/unreadSpacing)
}

// leaveOut leaves an entity out for 1 s, and for twice as long as before each time that it
// could not be read again. It reports whether it is the first time.
func (u *playerUnread) leaveOut(id snapshot.NetID, sender *snapshot.Sender, t Tick, rate int) (seconds uint32, first bool) {
	i := slices.IndexFunc(u.asides, func(a aside) bool { return a.id == id })
	if first = i < 0; first {
		i = len(u.asides)
		u.asides = append(u.asides, aside{id: id})
	}
	a := &u.asides[i]
	a.wait = max(1, min(2*a.wait, longestAside))
	a.until, a.out = t+Tick(int(a.wait)*rate), true
	sender.SetAside(id, true)
	return a.wait, first
}

// tryAgain ends the time of entities that were left out, and forgets those that were read
// since: for as long again, and 2 s more for a report to arrive.
func (u *playerUnread) tryAgain(sender *snapshot.Sender, t Tick, rate int) {
	u.asides = slices.DeleteFunc(u.asides, func(a aside) bool {
		return !a.out && int32(t-a.until) >= int32((a.wait+2)*uint32(rate))
	})
	for i := range u.asides {
		if a := &u.asides[i]; a.out && int32(t-a.until) >= 0 {
			a.out = false
			sender.SetAside(a.id, false)
		}
	}
}

// restart has all entities sent in full, within the bytes that the player's snapshots
// usually take. A player of whom that is not known has nothing yet that could be at fault.
func (u *playerUnread) restart(sender *snapshot.Sender) {
	if u.measured < skippedSnapshots+measuredSnapshots {
		return
	}
	sender.Restart()
	if !u.bounded {
		u.bounded, u.purse = true, 0
	}
}

// budget bounds the bytes of the snapshot of a tick. The player's own entities may exceed
// it: then there is no snapshot until the others make up for that.
func (u *playerUnread) budget(t Tick, rate int, most int) (bytes int, ok bool) {
	if u.bounded && t-u.last >= Tick(calmTime*rate) && u.purse >= 0 {
		u.bounded = false
	}
	if !u.bounded {
		return most, true
	}
	u.purse = min(u.purse+spared*u.usual, 4*u.usual)
	return min(most, int(u.purse)), u.purse >= 1
}

// spent counts the bytes of a snapshot, which may have shown entities for the first time.
func (u *playerUnread) spent(n int, newcomers bool) {
	switch {
	case u.bounded:
		u.purse -= float64(n)
	case !newcomers:
		if u.measured = min(u.measured+1, skippedSnapshots+usualOver); u.measured > skippedSnapshots {
			u.usual += (float64(n) - u.usual) / float64(u.measured-skippedSnapshots)
		}
	}
}

// forgetLevel forgets the entities of the level before.
func (u *playerUnread) forgetLevel() { u.asides = u.asides[:0] }
