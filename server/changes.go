package server

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/late"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// The kinds of changes of the interest that are undone before a tick runs again.
const (
	changeVisible uint8 = iota
	changeTeam
	changeEntityTeam
	changeAudience
	changeEye
	changeGroup
)

// noTeam means that an entity has no team of its own.
const noTeam = 1 << 8

// interestChanges records the state of the interest before the game changes it, so that a tick that
// runs again begins with the earlier state.
type interestChanges struct {
	late *late.Room
	sim  *simulation
}

// window returns Config.Late.Window in ticks. It is 0 without late inputs.
func (ic *interestChanges) window() foretick.Tick { return ic.late.Window }

// noteChange records a change that the game is about to make.
func (ic *interestChanges) noteChange(c late.Change) {
	if !ic.late.Whole {
		return
	}
	if c.Entity != ecs.None {
		c.Net = uint32(ic.sim.net(c.Entity))
	}
	ic.late.NoteChange(c)
}

func (ic *interestChanges) noteVisible(player foretick.PlayerID, e ecs.Entity, was bool) {
	ic.noteChange(late.Change{Kind: changeVisible, Player: player, Entity: e, Was: bit(was)})
}

func (ic *interestChanges) noteTeam(player foretick.PlayerID, was uint8) {
	ic.noteChange(late.Change{Kind: changeTeam, Player: player, Was: uint64(was)})
}

func (ic *interestChanges) noteEntityTeam(e ecs.Entity, was uint8, had bool) {
	c := late.Change{Kind: changeEntityTeam, Entity: e, Was: uint64(was)}
	if !had {
		c.Was = noTeam
	}
	ic.noteChange(c)
}

func (ic *interestChanges) noteAudience(player foretick.PlayerID, e ecs.Entity, was schema.Audience) {
	ic.noteChange(late.Change{Kind: changeAudience, Player: player, Entity: e, Was: uint64(was)})
}

func (ic *interestChanges) noteEye(player foretick.PlayerID, was *playerInterest) {
	ic.noteChange(late.Change{Kind: changeEye, Player: player, Eye: was.eye, Was: bit(was.hasEye)})
}

func (ic *interestChanges) noteGroup(e ecs.Entity, was uint32) {
	ic.noteChange(late.Change{Kind: changeGroup, Entity: e, Was: uint64(was)})
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// undoChange restores what was before a change.
func (in *interest) undoChange(c *late.Change) {
	switch c.Kind {
	case changeVisible:
		in.SetVisible(c.Player, c.Entity, c.Was == 1)
	case changeEye:
		if p := in.sessions.player(c.Player); p != nil {
			p.interest.eye, p.interest.hasEye = c.Eye, c.Was == 1
		}
	case changeGroup:
		in.grouped[snapshot.NetID(c.Net)] = uint32(c.Was)
	case changeTeam:
		in.SetTeam(c.Player, uint8(c.Was))
	case changeEntityTeam:
		if c.Was == noTeam {
			delete(in.entityTeams, c.Entity)
		} else {
			in.SetEntityTeam(c.Entity, uint8(c.Was))
		}
	case changeAudience:
		in.SetAudience(c.Player, c.Entity, ^schema.Audience(c.Was), false)
		in.SetAudience(c.Player, c.Entity, schema.Audience(c.Was), true)
	}
}

// forgetChange undoes a change of an entity that does not exist any more.
func (in *interest) forgetChange(c *late.Change) {
	net := snapshot.NetID(c.Net)
	switch p := in.sessions.player(c.Player); {
	case c.Kind == changeGroup:
		in.grouped[net] = 0
	case c.Kind == changeEntityTeam:
		delete(in.entityTeams, c.Entity)
	case p != nil && c.Kind == changeVisible:
		delete(p.interest.hides, c.Entity)
		if p.outbox.sender != nil {
			p.outbox.sender.SetVisible(net, true)
		}
		for _, o := range in.sessions.observers { // if another player hides the entity from an observer, it is hidden again when it appears
			o.outbox.sender.SetVisible(net, true)
		}
	case c.Kind == changeAudience:
		in.forgetAudience(c.Player, c.Entity, net)
	}
}
